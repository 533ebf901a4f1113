import dns from 'node:dns';
import { once } from 'node:events';
import { connect, createSecureServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LiveService } from '../../src/doctor/live-service.ts';
import type { ProxyOptions } from '../../src/rest/connection-pools.ts';
import { createProbe, describeRest } from '../../src/rest/health-probe.ts';
import { startProxy } from '../fixtures/proxy.ts';
import { answerJson, startRestClient } from '../fixtures/rest-service.ts';
import { selfSigned } from '../fixtures/self-signed.ts';

// No authority has signed the certificate of these services.
beforeAll(() => void vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));
afterAll(() => void vi.unstubAllEnvs());

type Found = (error: null, addresses: { address: string; family: number }[]) => void;

async function listen(server: Server): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast is safe: the address of a TCP server is an object.
  return server.address() as AddressInfo;
}

/** Starts an https service that prefers HTTP/2 and also speaks HTTP/1.1. `lines` has the HTTP version of each request. */
async function startSecureService() {
  const lines: string[] = [];
  const server = createSecureServer({ ...selfSigned, allowHTTP1: true }, (request, response) => {
    lines.push(`${request.method} ${request.url} HTTP/${request.httpVersion}`);
    const isLabel = request.url.endsWith('/label');
    response.setHeader('content-type', isLabel ? 'application/pdf' : 'application/json');
    response.end(isLabel ? '%PDF' : JSON.stringify({ name: 'orders/7' }));
  });
  const counted = { connections: 0 };
  server.on('secureConnection', () => {
    counted.connections += 1;
  });
  const { port } = await listen(server);
  return {
    url: new URL(`https://localhost:${port}`),
    lines,
    counted,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

test('the test service speaks HTTP/2 with a client that supports HTTP/2', async () => {
  await using service = await startSecureService();
  const session = connect(service.url);
  const request = session.request({ ':path': '/v1/orders/7' });
  expect(await text(request)).toBe('{"name":"orders/7"}');
  session.close();
  expect(service.lines).toEqual(['GET /v1/orders/7 HTTP/2.0']);
});

describe.each(['directly', 'through a tunnel of a proxy', 'directly, as NO_PROXY says'])('%s', (way) => {
  /** Starts a service and its proxy, and passes the address and the proxy to `use`. Returns the lines of both. */
  async function record(use: (options: { baseUrl: URL; proxy: ProxyOptions }) => Promise<unknown>) {
    await using service = await startSecureService();
    await using proxy = await startProxy(service.url);
    const baseUrl = new URL(way === 'directly' ? service.url : `https://rest.test:${service.url.port}`);
    // Names of this machine are called without a look at NO_PROXY.
    vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, found: Found) =>
      // The cast is safe: sockets look up all addresses of a name.
      found(null, [{ address: '127.0.0.1', family: 4 }])) as typeof dns.lookup);
    const noProxy = way.includes('NO_PROXY') ? 'rest.test' : '';
    await use({ baseUrl, proxy: { httpsProxy: proxy.url, httpProxy: undefined, noProxy } });
    const tunnels = proxy.lines.map((line) => line.split(/[ :]/).slice(0, 2).join(' '));
    return { ...service.counted, lines: service.lines, tunnels: [...new Set(tunnels)] };
  }

  const tunnels = way.includes('tunnel') ? ['CONNECT rest.test'] : [];

  test('a read, a write and a label are sent in HTTP/1.1', async () => {
    const recorded = await record(async (options) => {
      await using rest = await startRestClient(answerJson({}), options);
      await rest.api.getOrder('7', rest.callContext());
      const update = { order: { notes: 'a' }, updateMask: ['notes' as const] };
      await rest.api.updateOrder('7', update, rest.callContext());
      const label = await rest.api.getLabel('7', rest.callContext());
      expect(await text(label.body)).toBe('%PDF');
    });
    const lines = ['GET /v1/orders/7', 'PATCH /v1/orders/7', 'GET /v1/shipments/7/label'];
    expect(recorded).toMatchObject({ lines: lines.map((line) => `${line} HTTP/1.1`), tunnels });
  });

  test('concurrent calls have a connection each', async () => {
    const recorded = await record(async (options) => {
      await using rest = await startRestClient(answerJson({}), options);
      const calls = Array.from(Array(6), () => rest.api.getOrder('7', rest.callContext()));
      expect(await Promise.all(calls)).toEqual(Array(6).fill({ name: 'orders/7' }));
    });
    expect(recorded).toEqual({ connections: 6, lines: Array(6).fill('GET /v1/orders/7 HTTP/1.1'), tunnels });
  });

  test('the health probe and the check at the start are sent in HTTP/1.1', async () => {
    const recorded = await record(async (options) => {
      expect(await createProbe(options)()).toEqual({});
      expect(await describeRest(options)).toMatch(/returned 200/);
    });
    expect(recorded).toMatchObject({ lines: ['HEAD / HTTP/1.1', 'GET /v1/orders HTTP/1.1'], tunnels });
  });

  test('the calls of the doctor are sent in HTTP/1.1', async () => {
    const recorded = await record(async ({ baseUrl: url, proxy }) => {
      const live = new LiveService({ url, token: 'token', proxy, spacingMs: 0 });
      await live.get('/v1/orders');
      await live.get('/v1/shipments');
      await live.close();
    });
    expect(recorded).toMatchObject({
      lines: ['GET /v1/orders HTTP/1.1', 'GET /v1/shipments HTTP/1.1'],
      tunnels,
    });
  });
});

test.each(['https://rest.test', 'http://rest.test'])(
  'the connection to an https proxy speaks HTTP/1.1 for %s',
  async (rest) => {
    const protocols: (string | false | null)[] = [];
    const server = createTlsServer({ ...selfSigned, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      protocols.push(socket.alpnProtocol);
      socket.on('error', () => {}).end('HTTP/1.1 407 No\r\n\r\n');
    });
    const { port } = await listen(server);
    const proxyUrl = new URL(`https://localhost:${port}`);
    const proxy = { httpsProxy: proxyUrl, httpProxy: proxyUrl, noProxy: '' };
    expect(await createProbe({ baseUrl: new URL(rest), proxy })()).toEqual({
      unreachable: expect.stringContaining('the proxy returned 407'),
    });
    server.close();
    expect(protocols).toEqual(['http/1.1']);
  },
);

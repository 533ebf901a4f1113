import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createProbe } from '../../src/rest/health-probe.ts';
import { type Answer, startService } from '../fixtures/rest-service.ts';
import { selfSigned } from '../fixtures/self-signed.ts';

const probe = (baseUrl: URL, timeoutMs: number) => createProbe({ baseUrl, timeoutMs })();

describe('a REST service is unreachable', () => {
  test.each<[string, string, string]>([
    ['its host name has no address', 'http://rest.invalid', '(ENOTFOUND|EAI_AGAIN)'],
    ['TLS fails', 'https://127.0.0.1:PORT', '[A-Z0-9_]+'],
  ])('if %s', async (_what, address, code) => {
    await using service = await startService(() => {}, true);
    const baseUrl = new URL(address.replace('PORT', service.url.port));
    const reason = new RegExp(`^The REST service could not be reached: ${code}\\.$`);
    expect(await probe(baseUrl, 20_000)).toEqual({ unreachable: expect.stringMatching(reason) });
    expect(service.requests).toEqual([]);
  });

  test('if its certificate is not trusted', async () => {
    const server = createTlsServer(selfSigned).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // A TCP server has an object.
    expect(await probe(new URL(`https://localhost:${port}`), 20_000)).toEqual({
      unreachable: 'The REST service could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT.',
    });
    server.close();
  });

  test('if no connection opens in time', async () => {
    // It accepts TCP, and never answers the greeting of TLS.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // A TCP server has an object.
    expect(await probe(new URL(`https://127.0.0.1:${port}`), 200)).toEqual({
      unreachable: 'The REST service could not be reached: no connection within 200 ms.',
    });
    server.close();
  });
});

test.each<[string, Answer, string]>([
  ['never responds', () => {}, 'no response within 1000 ms'],
  ['closes the connection', (request) => request.socket.destroy(), 'UND_ERR_SOCKET'],
  [
    'sends a response that is not HTTP',
    (request) => request.socket.end('no HTTP\r\n\r\n'),
    'no valid HTTP response',
  ],
])('a REST service has a problem if it accepts a connection and %s', async (_what, answer, reason) => {
  await using service = await startService(answer, true);
  const problem = `^The REST service accepts a connection, but does not respond: ${reason}\\.$`;
  expect(await probe(service.url, 1_000)).toEqual({ problem: expect.stringMatching(new RegExp(problem)) });
});

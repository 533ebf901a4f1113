import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { appSettings } from '../../../src/process/app-settings.ts';
import type { RestApi } from '../../../src/rest/api.ts';
import { createProbe, type ProbeResult } from '../../../src/rest/health-probe.ts';
import { createApp } from '../../../src/server/app.ts';
import { createHealth, type Health } from '../../../src/server/routes/health.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { type Answer, startService } from '../../fixtures/rest-service.ts';
import { selfSigned } from '../../fixtures/self-signed.ts';

/** The application with this health; none of its requests gets as far as REST. */
function appWith(health: Health) {
  return createApp({
    keyStore: memoryStore,
    service: 'test',
    api: {} as RestApi,
    settings: { ...appSettings(readConfig({})), showCost: false },
    publicUrl: () => new URL('http://waybill.test'),
    health,
    report: (error) => {
      throw error;
    },
  });
}

async function ask(health: Health, path: string, method = 'GET') {
  const response = await appWith(health).fetch(`http://waybill.test${path}`, { method });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const ready = { status: 200, body: { status: 'ready' } };
const notReady = (reason: string) => ({ status: 503, body: { status: 'not ready', reason } });

test('/health/live returns 200 without a REST call, even during a shutdown', async () => {
  let probes = 0;
  const health = createHealth(async () => ({ unreachable: `probed ${++probes}` }));
  health.markNotReady();
  expect(await ask(health, '/health/live')).toEqual({ status: 200, body: { status: 'live' } });
  expect(probes).toBe(0);
});

test.each(['/health/live', '/health/ready'])('%s accepts only GET and HEAD', async (path) => {
  const health = createHealth(async () => ({}));
  expect((await ask(health, path, 'HEAD')).status).toBe(200);
  expect(await ask(health, path, 'POST')).toEqual({
    status: 405,
    body: {
      errors: [
        {
          message: 'Method not allowed. Use GET or HEAD.',
          extensions: { code: 'BAD_REQUEST', retryable: false },
        },
      ],
    },
  });
});

describe('/health/ready', () => {
  test.each([200, 401, 404, 500, 503])('returns 200 if the REST service responds with %i', async (status) => {
    await using service = await startService((_request, response) => {
      response.statusCode = status;
      response.end();
    }, true);
    const baseUrl = new URL(`${service.url.href}base`);
    const health = createHealth(createProbe({ baseUrl, timeoutMs: 2_000 }));
    expect(await ask(health, '/health/ready')).toEqual(ready);
    expect(service.requests.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['HEAD /base', undefined],
    ]);
  });

  test('returns 503 with the reason if the REST service refuses connections', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const address = gone.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    gone.close();
    const health = createHealth(
      createProbe({ baseUrl: new URL(`http://127.0.0.1:${port}`), timeoutMs: 2_000 }),
    );
    expect(await ask(health, '/health/ready')).toEqual(
      notReady('The REST service could not be reached: ECONNREFUSED.'),
    );
  });

  test.each<[string, string, string]>([
    ['no name leads to REST', 'http://rest.invalid', '(ENOTFOUND|EAI_AGAIN)'],
    ['TLS fails', 'https://127.0.0.1:PORT', '[A-Z0-9_]+'],
  ])('returns 503 with the reason if %s', async (_what, address, code) => {
    await using service = await startService(() => {}, true);
    const baseUrl = new URL(address.replace('PORT', service.url.port));
    const { status, body } = await ask(
      createHealth(createProbe({ baseUrl, timeoutMs: 20_000 })),
      '/health/ready',
    );
    const reason = expect.stringMatching(new RegExp(`^The REST service could not be reached: ${code}\\.$`));
    expect([status, body]).toEqual([503, { status: 'not ready', reason }]);
    expect(service.requests).toEqual([]);
  });

  test('returns 503 with the reason if the certificate of the REST service is not trusted', async () => {
    const server = createTlsServer(selfSigned).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // A TCP server has an object.
    const baseUrl = new URL(`https://localhost:${port}`);
    expect(await ask(createHealth(createProbe({ baseUrl, timeoutMs: 20_000 })), '/health/ready')).toEqual(
      notReady('The REST service could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT.'),
    );
    server.close();
  });

  test('returns 503 with the reason if no connection opens in time', async () => {
    // It accepts TCP, and never answers the greeting of TLS.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // A TCP server has an object.
    const baseUrl = new URL(`https://127.0.0.1:${port}`);
    expect(await ask(createHealth(createProbe({ baseUrl, timeoutMs: 200 })), '/health/ready')).toEqual(
      notReady('The REST service could not be reached: no connection within 200 ms.'),
    );
    server.close();
  });

  test.each<[string, Answer, string]>([
    ['never responds', () => {}, 'no response within 1000 ms'],
    ['closes the connection', (request) => request.socket.destroy(), 'UND_ERR_SOCKET'],
    ['responds with no HTTP', (request) => request.socket.end('no HTTP\r\n\r\n'), 'no valid HTTP response'],
  ])('returns 200 with the problem if the REST service %s', async (_what, answer, reason) => {
    await using service = await startService(answer, true);
    const health = createHealth(createProbe({ baseUrl: service.url, timeoutMs: 1_000 }));
    const { status, body } = await ask(health, '/health/ready');
    const problem = `^The REST service accepts a connection, but does not respond: ${reason}\\.$`;
    expect([status, body]).toEqual([
      200,
      { status: 'ready', problem: expect.stringMatching(new RegExp(problem)) },
    ]);
  });

  test('makes one REST call for concurrent requests and caches the result', async () => {
    const answers: ((result: ProbeResult) => void)[] = [];
    const health = createHealth(() => new Promise((resolve) => answers.push(resolve)), [], 100);
    const both = Promise.all([ask(health, '/health/ready'), ask(health, '/health/ready')]);
    await expect.poll(() => answers.length).toBe(1);
    answers[0]?.({ unreachable: 'REST is out.' });
    expect(await both).toEqual([notReady('REST is out.'), notReady('REST is out.')]);
    expect(answers).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const later = ask(health, '/health/ready');
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.({});
    expect(await later).toEqual(ready);
  });

  test('returns 200 and reports the problem if the key store fails', async () => {
    let problem: string | undefined = 'The disk of the key store is full.';
    const health = createHealth(async () => ({}), [() => problem]);
    expect(await ask(health, '/health/ready')).toEqual({ status: 200, body: { status: 'ready', problem } });
    problem = undefined;
    expect(await ask(health, '/health/ready')).toEqual(ready);
  });

  test('has the problems of the REST service, of the store and of its file together', async () => {
    const health = createHealth(
      async () => ({ problem: 'REST is slow.' }),
      [() => 'The disk is full.', () => undefined, () => 'The file is gone.'],
    );
    const problem = 'REST is slow. The disk is full. The file is gone.';
    expect(await ask(health, '/health/ready')).toEqual({ status: 200, body: { status: 'ready', problem } });
  });

  test('names only the failure of the REST service if the key store also fails', async () => {
    const health = createHealth(async () => ({ unreachable: 'REST is out.' }), [() => 'The disk is full.']);
    expect(await ask(health, '/health/ready')).toEqual(notReady('REST is out.'));
  });

  test('returns 503 without a REST call during a shutdown', async () => {
    const health = createHealth(async () => {
      throw new Error('asked REST');
    });
    health.markNotReady();
    expect(await ask(health, '/health/ready')).toEqual(notReady('This server is shutting down.'));
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { appSettings } from '../../../src/process/app-settings.ts';
import type { RestApi } from '../../../src/rest/api.ts';
import { createProbe } from '../../../src/rest/health-probe.ts';
import { createApp } from '../../../src/server/app.ts';
import { createHealth, type Health } from '../../../src/server/routes/health.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { startService } from '../../fixtures/rest-service.ts';

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
  const health = createHealth(async () => `probed ${++probes}`);
  health.markNotReady();
  expect(await ask(health, '/health/live')).toEqual({ status: 200, body: { status: 'live' } });
  expect(probes).toBe(0);
});

test.each(['/health/live', '/health/ready'])('%s accepts only GET and HEAD', async (path) => {
  const health = createHealth(async () => undefined);
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

  test('returns 503 with the reason if the REST service never responds', async () => {
    const held: ServerResponse[] = [];
    await using service = await startService((_request, response) => held.push(response), true);
    const health = createHealth(createProbe({ baseUrl: service.url, timeoutMs: 200 }));
    expect(await ask(health, '/health/ready')).toEqual(
      notReady('The REST service could not be reached: no response within 200 ms.'),
    );
  });

  test('makes one REST call for concurrent requests and caches the result', async () => {
    const answers: ((reason: string | undefined) => void)[] = [];
    const health = createHealth(() => new Promise((resolve) => answers.push(resolve)), undefined, 100);
    const both = Promise.all([ask(health, '/health/ready'), ask(health, '/health/ready')]);
    await expect.poll(() => answers.length).toBe(1);
    answers[0]?.('REST is out.');
    expect(await both).toEqual([notReady('REST is out.'), notReady('REST is out.')]);
    expect(answers).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const later = ask(health, '/health/ready');
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.(undefined);
    expect(await later).toEqual(ready);
  });

  test('returns 200 and reports the problem if the key store fails', async () => {
    let problem: string | undefined = 'The disk of the key store is full.';
    const health = createHealth(
      async () => undefined,
      () => problem,
    );
    expect(await ask(health, '/health/ready')).toEqual({ status: 200, body: { status: 'ready', problem } });
    problem = undefined;
    expect(await ask(health, '/health/ready')).toEqual(ready);
  });

  test('names only the failure of the REST service if the key store also fails', async () => {
    const health = createHealth(
      async () => 'REST is out.',
      () => 'The disk is full.',
    );
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

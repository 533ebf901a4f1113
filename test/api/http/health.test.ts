import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { type Answer, answerJson, startService } from '../../fixtures/rest-service.ts';
import { startServer } from '../../fixtures/start-server.ts';

/** Starts a server before the REST service at `restUrl`. */
function startBefore(restUrl: URL, keyStore: KeyStore = memoryStore) {
  const report = (error: unknown) => {
    throw error;
  };
  return startServer(restUrl, {}, { report, keyStore });
}

type Server = Awaited<ReturnType<typeof startBefore>>;

async function ask(server: Server, path: string, method = 'GET') {
  const response = await server.fetch(path, { method });
  return { status: response.status, text: await response.text() };
}

async function askReady(server: Server) {
  const { status, text } = await ask(server, '/health/ready');
  return { status, body: JSON.parse(text) };
}

/** A REST service that also gets the probes. */
const startRest = (answer: Answer) => startService(answer, true);

/** The address of a port on which nothing listens. */
async function refusingUrl(): Promise<URL> {
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const address = gone.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  gone.close();
  return new URL(`http://127.0.0.1:${port}`);
}

const ready = { status: 200, body: { status: 'ready' } };
const notReady = (reason: string) => ({ status: 503, body: { status: 'not ready', reason } });

test('/health/live returns 200 without a REST call', async () => {
  await using rest = await startRest(answerJson({}));
  await using server = await startBefore(rest.url);
  expect(await ask(server, '/health/live')).toEqual({ status: 200, text: '{"status":"live"}' });
  expect(rest.requests).toEqual([]);
});

test.each(['/health/live', '/health/ready'])('%s accepts only GET and HEAD', async (path) => {
  await using rest = await startRest(answerJson({}));
  await using server = await startBefore(rest.url);
  expect(await ask(server, path, 'HEAD')).toEqual({ status: 200, text: '' });
  const { status, text } = await ask(server, path, 'POST');
  expect([status, JSON.parse(text)]).toEqual([
    405,
    {
      errors: [
        {
          message: 'Method not allowed. Use GET or HEAD.',
          extensions: { code: 'BAD_REQUEST', retryable: false },
        },
      ],
    },
  ]);
});

describe('/health/ready', () => {
  test.each([200, 401, 404, 500, 503])('returns 200 if the REST service responds with %i', async (status) => {
    await using rest = await startRest((_request, response) => {
      response.statusCode = status;
      response.end();
    });
    await using server = await startBefore(new URL(`${rest.url.href}base`));
    expect(await askReady(server)).toEqual(ready);
    expect(rest.requests.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['HEAD /base', undefined],
    ]);
  });

  test('returns 503 with the reason if the REST service refuses connections', async () => {
    await using server = await startBefore(await refusingUrl());
    expect(await askReady(server)).toEqual(notReady('The REST service could not be reached: ECONNREFUSED.'));
  });

  test('returns 200 with the problem if the REST service never responds', async () => {
    await using rest = await startRest(() => {});
    await using server = await startBefore(rest.url);
    const problem =
      'The REST service accepts a connection, but does not respond: no response within 2000 ms.';
    expect(await askReady(server)).toEqual({ status: 200, body: { status: 'ready', problem } });
  });

  test('returns 200 and reports the problem if the key store fails', async () => {
    let problem: string | undefined = 'The disk of the key store is full.';
    await using rest = await startRest(answerJson({}));
    await using server = await startBefore(rest.url, { ...memoryStore, failure: () => problem });
    expect(await askReady(server)).toEqual({ status: 200, body: { status: 'ready', problem } });
    problem = undefined;
    expect(await askReady(server)).toEqual(ready);
  });

  test('names only the failure of the REST service if the key store also fails', async () => {
    const store = { ...memoryStore, failure: () => 'The disk is full.' };
    await using server = await startBefore(await refusingUrl(), store);
    expect(await askReady(server)).toEqual(notReady('The REST service could not be reached: ECONNREFUSED.'));
  });
});

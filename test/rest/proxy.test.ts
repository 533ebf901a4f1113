import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ProxyOptions } from '../../src/rest/connection-pools.ts';
import { mayHaveHappened } from '../../src/rest/errors.ts';
import { createProbe } from '../../src/rest/health-probe.ts';
import { startProxy } from '../fixtures/proxy.ts';
import { answerJson, errorOf, startRestClient, startService, until } from '../fixtures/rest-service.ts';
import { startServer } from '../fixtures/start-server.ts';

const credentials = `Basic ${Buffer.from('me:pass word').toString('base64')}`;
const restUrl = new URL('http://rest.test/base');
const answerOrder = answerJson({ name: 'orders/7' });

const forHttp = (url: URL, noProxy = ''): ProxyOptions => ({
  httpsProxy: undefined,
  httpProxy: url,
  noProxy,
});

test('every request names Waybill and its version in User-Agent', async () => {
  await using service = await startService(answerOrder, true);
  await using rest = await startRestClient(answerOrder, { baseUrl: service.url });
  await rest.api.getOrder('7', rest.callContext());
  await createProbe({ baseUrl: service.url })();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(service.requests.map(({ headers }) => headers['user-agent'])).toEqual([
    `waybill/${version}`,
    `waybill/${version}`,
  ]);
});

describe('a proxy', () => {
  test('forwards calls and the health probe, but not the proxy credentials', async () => {
    await using service = await startService(answerOrder, true);
    await using proxy = await startProxy(service.url);
    await using rest = await startRestClient(answerOrder, { baseUrl: restUrl, proxy: forHttp(proxy.url) });
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual({ name: 'orders/7' });
    await rest.api.updateOrder('7', { order: { notes: 'a' }, updateMask: ['notes'] }, rest.callContext());
    expect(await createProbe({ baseUrl: restUrl, proxy: forHttp(proxy.url) })()).toEqual({});
    expect(proxy.lines).toEqual([
      `GET http://rest.test/base/v1/orders/7 ${credentials}`,
      `PATCH http://rest.test/base/v1/orders/7 ${credentials}`,
      `HEAD http://rest.test/base ${credentials}`,
    ]);
    expect(service.requests.map(({ line, headers }) => [line, headers.host, headers.authorization])).toEqual([
      ['GET /base/v1/orders/7', 'rest.test', 'Bearer secret-token'],
      ['PATCH /base/v1/orders/7', 'rest.test', 'Bearer secret-token'],
      ['HEAD /base', 'rest.test', undefined],
    ]);
  });

  test('causes calls and the health probe to fail if it rejects the tunnel with 407', async () => {
    await using service = await startService(answerOrder, true);
    await using proxy = await startProxy(service.url, { status: 407 });
    const baseUrl = new URL('https://rest.test');
    const options = { httpsProxy: proxy.url, httpProxy: undefined, noProxy: 'other.test' };
    await using rest = await startRestClient(answerOrder, { baseUrl, proxy: options });
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error.message).toBe('GET /v1/orders/7 got no response (the proxy returned 407)');
    const change = { order: { notes: 'a' }, updateMask: ['notes' as const] };
    const writeError = await errorOf(rest.api.updateOrder('7', change, rest.callContext()));
    expect([writeError.name, mayHaveHappened(writeError)]).toEqual(['UnavailableError', false]);
    expect(await createProbe({ baseUrl, proxy: options })()).toEqual({
      unreachable: 'The REST service could not be reached: the proxy returned 407.',
    });
    expect(await createProbe({ baseUrl: restUrl, proxy: forHttp(proxy.url) })()).toEqual({
      unreachable: 'The REST service could not be reached: the proxy returned 407.',
    });
    expect(proxy.lines).toEqual([
      ...Array.from(Array(3), () => `CONNECT rest.test:443 ${credentials}`),
      `HEAD http://rest.test/base ${credentials}`,
    ]);
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      expect(`${cause.stack}${JSON.stringify(cause)}`).not.toMatch(/pass|bWU6|me:/);
    }
  });

  test('leaves a write retryable if it rejects the write with 407', async () => {
    await using service = await startService(answerOrder, true);
    await using proxy = await startProxy(service.url, { status: 407 });
    const environment = { UPSTREAM_URL: restUrl.href, HTTP_PROXY: proxy.url.href };
    await using server = await startServer(restUrl, environment, { report: () => {} });
    const query = `mutation { write: updateOrder(input: { id: "7", notes: "Dejar en portería" }) { __typename } }`;
    const [written, read] = await Promise.all(
      [query, '{ read: order(id: "7") { id } }'].map(async (document) => {
        const response = await server.fetch('/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
          body: JSON.stringify({ query: document }),
        });
        return response.json();
      }),
    );
    const failed = (field: string, call: string) => ({
      data: { [field]: null },
      errors: [
        {
          message: `${call} got no response (the proxy returned 407)`,
          path: [field],
          extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
        },
      ],
    });
    expect(written).toMatchObject(failed('write', 'PATCH /v1/orders/7'));
    expect(read).toMatchObject(failed('read', 'GET /v1/orders/7'));
    expect(proxy.lines.map((line) => line.split(' ')[0]).sort()).toEqual(['GET', 'PATCH']);
    expect(service.lines()).toEqual([]);
  });

  test.each([
    ['a host in NO_PROXY', new URL('http://rest.test'), 'rest.test'],
    ['any host if NO_PROXY is *', new URL('http://rest.test'), '*'],
  ])('is not used for %s', async (_title, baseUrl, noProxy) => {
    await using service = await startService(answerOrder, true);
    await using proxy = await startProxy(service.url);
    await using rest = await startRestClient(answerOrder, { baseUrl, proxy: forHttp(proxy.url, noProxy) });
    await errorOf(rest.api.getOrder('7', rest.callContext()));
    await createProbe({ baseUrl, proxy: forHttp(proxy.url, noProxy) })();
    expect(proxy.lines).toEqual([]);
  });

  test.each(['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]'])(
    'is not used for the local address %s',
    async (hostname) => {
      await using service = await startService(answerOrder, true);
      await using proxy = await startProxy(service.url);
      const baseUrl = new URL(service.url);
      baseUrl.hostname = hostname;
      await using rest = await startRestClient(answerOrder, { baseUrl, proxy: forHttp(proxy.url) });
      expect(await rest.api.getOrder('7', rest.callContext())).toEqual({ name: 'orders/7' });
      expect(await createProbe({ baseUrl, proxy: forHttp(proxy.url) })()).toEqual({});
      expect(proxy.lines).toEqual([]);
    },
  );

  test('gets at most the configured number of connections', async () => {
    const held: (() => void)[] = [];
    await using service = await startService((request, response) => {
      const name = request.url?.replace('/base/v1/', '');
      held.push(() => response.end(JSON.stringify({ name })));
    });
    await using proxy = await startProxy(service.url);
    const options = { baseUrl: restUrl, proxy: forHttp(proxy.url), connections: 3 };
    await using rest = await startRestClient(answerOrder, options);
    const calls = Array.from(Array(8), (_, id) => rest.api.getOrder(`o${id}`, rest.callContext()));
    await until(() => held.length === 3);
    expect(proxy.mostOpen()).toBe(3);
    const releasing = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 5);
    await Promise.all(calls);
    clearInterval(releasing);
    expect([service.requests.length, proxy.mostOpen()]).toEqual([8, 3]);
  });

  test('causes calls and the health probe to fail if it never opens the tunnel', async () => {
    await using service = await startService(answerOrder, true);
    await using proxy = await startProxy(service.url, { status: 0 });
    const baseUrl = new URL('https://rest.test');
    const options = { httpsProxy: proxy.url, httpProxy: undefined, noProxy: '' };
    await using rest = await startRestClient(answerOrder, {
      baseUrl,
      proxy: options,
      connectTimeoutMs: 300,
      callTimeoutMs: 10_000,
    });
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error.message).toBe('GET /v1/orders/7 got no response (UND_ERR_HEADERS_TIMEOUT)');
    expect(await createProbe({ baseUrl, timeoutMs: 200, proxy: options })()).toEqual({
      unreachable: 'The REST service could not be reached: no connection within 200 ms.',
    });
  });
});

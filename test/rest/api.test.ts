import { describe, expect, test } from 'vitest';
import { userAgent } from '../../src/rest/connection-pools.ts';
import type { QueryParameterNames } from '../../src/rest/watch/parameter-watch.ts';
import { createCallContexts } from '../fixtures/call-contexts.ts';
import { answerAsPromised, answerJson, bearer, startRestClient } from '../fixtures/rest-service.ts';
import { endpoints } from './endpoints.ts';

describe('REST calls', () => {
  test('are tested for every method of RestApi', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const withoutCall = ['serviceTime', 'expectMessagePermit', 'expectShippingPermit'];
    const methods = new Set([...endpoints.map(({ method }) => method), ...withoutCall]);
    expect([...methods].sort()).toEqual(Object.keys(rest.api).sort());
  });

  test.each(endpoints)('$method sends $line', async ({ call, line, body, accept }) => {
    await using rest = await startRestClient(answerAsPromised);
    await call(rest.api, rest.callContext());
    expect(rest.service.requests).toEqual([
      {
        line,
        body: body ?? '',
        headers: {
          host: rest.service.url.host,
          connection: 'keep-alive',
          accept: accept ?? 'application/json',
          authorization: 'Bearer secret-token',
          'user-agent': userAgent,
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        },
      },
    ]);
  });

  test.each(['', '/', '/api', '/api/', '/a%20b/c'])('keep the path "%s" of the base URL', async (path) => {
    const answer = answerJson({ name: 'orders/7' });
    await using rest = await startRestClient(answer);
    await using other = await startRestClient(answer, { baseUrl: new URL(path, rest.service.url) });
    await other.api.getOrder('7', other.callContext());
    expect(rest.service.lines()).toEqual([`GET ${path.replace(/\/$/, '')}/v1/orders/7`]);
  });
});

describe('the names of the query parameters', () => {
  const names: QueryParameterNames = {
    pageSize: 'max_results',
    pageToken: 'cursor',
    status: 'states',
    search: 'q',
    // The same as the search: they belong to different lists.
    query: 'q',
  };

  test('are taken from the configuration', async () => {
    await using rest = await startRestClient(answerAsPromised, { names });
    const { api, service } = rest;
    await api.listOrders({ pageSize: 9, pageToken: 't', status: ['NEW'], search: 'Ana' }, rest.callContext());
    await api.listLocations({ pageSize: 8, pageToken: 'u', query: 'Cali' }, rest.callContext());
    expect(service.lines()).toEqual([
      'GET /v1/orders?max_results=9&cursor=t&states=NEW&q=Ana',
      'GET /v1/locations?max_results=8&cursor=u&q=Cali',
    ]);
  });
});

test('each call sends the access token of its call context', async () => {
  await using rest = await startRestClient(answerAsPromised);
  await rest.api.getOrder('1', rest.callContext());
  await rest.api.getOrder('1', createCallContexts().of('another', new AbortController().signal));
  expect(rest.service.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${bearer}`,
    'Bearer another',
  ]);
});

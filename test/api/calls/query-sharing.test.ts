import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { QuerySharing } from '../../../src/server/operations/query-sharing.ts';
import { createOperationScope } from '../../fixtures/operation-scope.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const organization = { name: 'organization/a', balanceCents: 100, creditLimitCents: 0 };
const shown = '{ organization { id } }';

interface Request {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
  bearer?: string | null;
  signal?: AbortSignal;
  showsCost?: boolean;
}

/** The application before a service that holds its answers, by path, until they are given. */
async function startHolding(environment: Record<string, string> = {}) {
  const held: { path: string; response: ServerResponse }[] = [];
  const waybill = await startApp(({ url = '' }, response) => held.push({ path: url, response }), {
    REFERENCE_DATA_MS: '0',
    ...environment,
  });
  const ask = async ({ bearer = 'ana', signal, showsCost = true, ...parameters }: Request) => {
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...(showsCost && { 'x-upstream-cost': '1' }),
      },
      body: JSON.stringify(parameters),
      signal: signal ?? null,
    });
    const { data, errors, extensions } = await response.json();
    return { data, errors, cost: extensions?.upstream };
  };
  return {
    ...waybill,
    held,
    ask,
    /** Gives the oldest answer that is held. */
    give: (json: object, status = 200) => held.shift()?.response.writeHead(status).end(JSON.stringify(json)),
    /** What REST was asked on behalf of Ana. */
    lines: () =>
      waybill.service.requests
        .filter(({ headers }) => headers.authorization === 'Bearer ana')
        .map(({ line }) => line),
    /** Lets all that was asked before be under way: what is asked comes in turn, but for its calls on their connections. */
    async arrived() {
      const path = '/v1/origins?pageSize=20';
      const last = ask({ query: '{ origins { nodes { id } } }', bearer: 'somebody-else' });
      await until(() => held.some((call) => call.path === path));
      const index = held.findIndex((call) => call.path === path);
      for (const { response } of held.splice(index, 1)) response.end(JSON.stringify({ origins: [] }));
      await last;
      await until(() => held.length > 0);
    },
  };
}

const cost = (calls: number) => expect.objectContaining({ calls });

describe('concurrent equal queries', () => {
  test('run once and share the response', async () => {
    await using waybill = await startHolding();
    const answers = [1, 2, 3].map(() => waybill.ask({ query: shown }));
    await waybill.arrived();
    waybill.give(organization);
    const answer = { data: { organization: { id: 'organization/a' } }, errors: undefined, cost: cost(1) };
    expect(await Promise.all(answers)).toEqual([answer, answer, answer]);
    expect(waybill.lines()).toEqual(['GET /v1/organizations/mine']);
  });

  test('share an error without caching it', async () => {
    await using waybill = await startHolding();
    const answers = [1, 2].map(() => waybill.ask({ query: shown }));
    await waybill.arrived();
    waybill.give({ message: 'no' }, 503);
    const answer = {
      data: { organization: null },
      errors: [
        {
          message: 'GET /v1/organizations/mine returned 503',
          locations: [{ line: 1, column: 3 }],
          path: ['organization'],
          extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, upstreamStatus: 503 },
        },
      ],
      cost: cost(1),
    };
    expect(await Promise.all(answers)).toEqual([answer, answer]);
    const anew = waybill.ask({ query: shown });
    await until(() => waybill.held.length === 1);
    waybill.give(organization);
    expect(await anew).toMatchObject({ errors: undefined });
  });

  test('are all rejected if their variables are invalid', async () => {
    await using waybill = await startHolding();
    const request = {
      query: 'query ($first: Int!) { orders(first: $first) { nodes { id } } }',
      variables: {},
    };
    const answers = await Promise.all([1, 2].map(() => waybill.ask(request)));
    for (const { data, errors } of answers) {
      expect(data).toBeUndefined();
      expect(errors).toEqual([
        expect.objectContaining({ extensions: { code: 'BAD_USER_INPUT', retryable: false } }),
      ]);
    }
    expect(waybill.lines()).toEqual([]);
  });

  test('continue for the second client when the first client disconnects', async () => {
    await using waybill = await startHolding();
    const first = new AbortController();
    const gone = waybill.ask({ query: shown, signal: first.signal });
    const stayed = waybill.ask({ query: shown });
    await waybill.arrived();
    first.abort();
    await expect(gone).rejects.toThrow('aborted');
    waybill.give(organization);
    expect(await stayed).toEqual({
      data: { organization: { id: 'organization/a' } },
      errors: undefined,
      cost: cost(1),
    });
    expect(waybill.lines()).toEqual(['GET /v1/organizations/mine']);
    expect(waybill.reported).toEqual([]);
  });

  test('continue for the first client when the second client disconnects', async () => {
    await using waybill = await startHolding();
    const second = new AbortController();
    const stayed = waybill.ask({ query: shown });
    const gone = waybill.ask({ query: shown, signal: second.signal });
    await waybill.arrived();
    second.abort();
    await expect(gone).rejects.toThrow('aborted');
    waybill.give(organization);
    expect(await stayed).toMatchObject({ data: { organization: { id: 'organization/a' } } });
  });

  test('are aborted when all clients have disconnected', async () => {
    await using waybill = await startHolding();
    const clients = [new AbortController(), new AbortController()];
    const gone = clients.map(({ signal }) => waybill.ask({ query: shown, signal }));
    await waybill.arrived();
    let isClosed = false;
    waybill.held.shift()?.response.once('close', () => {
      isClosed = true;
    });
    for (const client of clients) client.abort();
    for (const answer of gone) await expect(answer).rejects.toThrow('aborted');
    await until(() => isClosed);
    const anew = waybill.ask({ query: shown });
    await until(() => waybill.held.length === 1);
    waybill.give(organization);
    expect(await anew).toMatchObject({ data: { organization: { id: 'organization/a' } }, errors: undefined });
    expect(waybill.lines()).toHaveLength(2);
    expect(waybill.reported).toEqual([]);
  });

  test('run separately when they start more than 100 ms apart', async () => {
    await using waybill = await startHolding();
    const query = '{ order(id: "1") { notes } }';
    const before = waybill.ask({ query });
    await until(() => waybill.held.length === 1);
    const [older] = waybill.held.splice(0);
    await sleep(120);
    const after = waybill.ask({ query });
    await until(() => waybill.held.length === 1);
    // The order has changed while the first answer was held up on its way.
    older?.response.end(JSON.stringify({ name: 'orders/1', notes: 'before' }));
    waybill.give({ name: 'orders/1', notes: 'after' });
    expect(await before).toMatchObject({ data: { order: { notes: 'before' } }, cost: cost(1) });
    expect(await after).toMatchObject({ data: { order: { notes: 'after' } }, cost: cost(1) });
    expect(waybill.lines()).toEqual(['GET /v1/orders/1', 'GET /v1/orders/1']);
  });

  test('share no result if a write is sent between them', async () => {
    await using waybill = await startHolding();
    const query = '{ order(id: "1") { notes } }';
    const before = waybill.ask({ query });
    await until(() => waybill.held.length === 1);
    const [older] = waybill.held.splice(0);
    const update = 'mutation { updateOrder(input: { id: "1", notes: "after" }) { __typename } }';
    const written = waybill.ask({ query: update });
    await until(() => waybill.held.length === 1);
    waybill.give({ name: 'orders/1', notes: 'after' });
    expect(await written).toMatchObject({ data: { updateOrder: { __typename: 'UpdateOrderSuccess' } } });
    const after = waybill.ask({ query });
    await until(() => waybill.held.length === 1);
    older?.response.end(JSON.stringify({ name: 'orders/1', notes: 'before' }));
    waybill.give({ name: 'orders/1', notes: 'after' });
    expect(await before).toMatchObject({ data: { order: { notes: 'before' } } });
    expect(await after).toMatchObject({ data: { order: { notes: 'after' } } });
  });

  test('run separately if they have different tokens', async () => {
    await using waybill = await startHolding();
    const answers = ['ana', 'eva'].map((bearer) => waybill.ask({ query: shown, bearer }));
    await until(() => waybill.held.length === 2);
    for (const _bearer of ['ana', 'eva']) waybill.give(organization);
    expect((await Promise.all(answers)).map((answer) => answer.cost)).toEqual([cost(1), cost(1)]);
  });

  test('are all rejected if they have no token', async () => {
    await using waybill = await startHolding();
    const answers = await Promise.all([1, 2].map(() => waybill.ask({ query: shown, bearer: null })));
    for (const { errors } of answers)
      expect(errors).toEqual([
        expect.objectContaining({ extensions: { code: 'UNAUTHENTICATED', retryable: false } }),
      ]);
  });
});

test('a query does not reuse the response of a finished equal query', async () => {
  await using waybill = await startHolding();
  for (const name of ['organization/a', 'organization/b']) {
    const answer = waybill.ask({ query: shown });
    await until(() => waybill.held.length === 1);
    waybill.give({ ...organization, name });
    expect(await answer).toMatchObject({ data: { organization: { id: name } } });
  }
  expect(waybill.lines()).toHaveLength(2);
});

test('queries with the variable values 1e400 and null do not share a result', async () => {
  await using waybill = await startHolding();
  const ask = async (first: string) => {
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ana' },
      body: `{ "query": "query ($first: Int) { locations(first: $first) { nodes { id } } }", "variables": { "first": ${first} } }`,
    });
    return response.json();
  };
  const byNull = ask('null');
  await waybill.arrived();
  // It is refused at once, and does not wait for the other.
  expect(await ask('1e400')).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  waybill.give({ locations: [] });
  expect(await byNull).toEqual({ data: { locations: { nodes: [] } } });
  expect(waybill.lines()).toEqual(['GET /v1/locations?pageSize=20']);
});

test('queries run separately if their text, operation, variables or cost header differ', async () => {
  await using waybill = await startHolding();
  const query = 'query A($id: ID!) { order(id: $id) { id } } query B($id: ID!) { order(id: $id) { id } }';
  const equal = { query, operationName: 'A', variables: { id: '1' } };
  const answers = [
    equal,
    { ...equal, query: `${query} ` },
    { ...equal, operationName: 'B' },
    { ...equal, variables: { id: 'orders/1' } },
  ].map(waybill.ask);
  const unshown = waybill.ask({ ...equal, showsCost: false });
  await until(() => waybill.held.length === 5);
  for (const _query of [...answers, unshown]) waybill.give({ name: 'orders/1' });
  expect((await Promise.all(answers)).map((answer) => answer.cost)).toEqual(answers.map(() => cost(1)));
  expect(await unshown).toEqual({
    data: { order: { id: 'orders/1' } },
    errors: undefined,
    cost: undefined,
  });
});

test('concurrent equal mutations run separately', async () => {
  await using waybill = await startHolding();
  const query = 'mutation { updateOrder(input: { id: "1", notes: "after" }) { __typename } }';
  const answers = [1, 2].map(() => waybill.ask({ query }));
  await until(() => waybill.held.length === 2);
  for (const _answer of answers) waybill.give({ name: 'orders/1', notes: 'after' });
  await Promise.all(answers);
  expect(waybill.lines()).toEqual(['PATCH /v1/orders/1', 'PATCH /v1/orders/1']);
});

test('equal queries share a result even if their token is at its concurrency limit', async () => {
  // One list of 100 orders is all that the token may run at a time.
  await using waybill = await startHolding({ MAX_NODES: '100', GRAPHQL_REQUESTS_AT_ONCE: '100' });
  const query = '{ orders(first: 100) { nodes { id } } }';
  const asked = Array.from({ length: 5 }, () => waybill.ask({ query }));
  await waybill.arrived();
  waybill.give({ orders: [{ name: 'orders/a' }] });
  const answers = await Promise.all(asked);
  expect(answers.map(({ data }) => data)).toEqual(Array(5).fill({ orders: { nodes: [{ id: 'orders/a' }] } }));
  expect(waybill.lines()).toEqual(['GET /v1/orders?pageSize=100']);
});

test('a query with little time left shares no result with a query that just started', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const started = (atMs: number) => {
    clock.mockReturnValue(atMs);
    const scope = createOperationScope(30_000);
    scope.startTimeout();
    return scope;
  };
  const [waited, waitedToo, fresh] = [started(0), started(100), started(20_000)];
  const sharing = new QuerySharing();
  const tenant = { id: 'tenant', writes: 0 };
  const query = sharing.add(tenant, 'key', waited, Promise.resolve({ data: {} }));
  expect(sharing.find(tenant, 'key', waitedToo)).toBe(query);
  expect(sharing.find(tenant, 'key', fresh)).toBeUndefined();
  for (const scope of [waited, waitedToo, fresh]) scope.stopTimeout();
});

import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { type BoardRequest, createBoardService } from '../../fixtures/board-service.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { inputFor, literal } from '../../fixtures/mutation-inputs.ts';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { type StartAppOptions, startApp } from '../../fixtures/start-app.ts';

// No call goes out for a query, or for a part of a query, that is refused.

const board = '{ orders(first: 30) { nodes { id shipment { status } } } }';
const ordersCall = 'GET /v1/orders?pageSize=30';
const shipmentsCall = expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/);
const circuitOpen = 'UPSTREAM_CIRCUIT_OPEN';

/** The status of the next responses of a path, if it is not 200. */
let statusOf: (line: string) => number | undefined = () => undefined;
beforeEach(() => {
  statusOf = () => undefined;
});

async function start(
  environment: Record<string, string> = {},
  hold?: (request: BoardRequest) => Answer | undefined,
  options: StartAppOptions = {},
) {
  const service = createBoardService({ orderCount: 100 });
  service.behaviour = (asked, response) => {
    const status = statusOf(`${asked.request.method} ${asked.request.url}`);
    if (status !== undefined) answerJson({}, status)(asked.request, response, '');
    const held = status === undefined ? hold?.(asked) : undefined;
    held?.(asked.request, response, '');
    return status !== undefined || held !== undefined;
  };
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  const waybill = await startApp(
    (request, response, body) =>
      request.url === '/v1/organizations/mine'
        ? answerJson({ name: 'organization/1' })(request, response, body)
        : service.answer(request, response, body),
    environment,
    { telemetry, ...options },
  );
  /** Sends a query. @returns the codes, the calls that arrived, and the number of calls in `extensions.upstream`. */
  async function ask(query: string, bearer = 'ana') {
    const before = waybill.calls().length;
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${bearer}`,
        'x-upstream-cost': '1',
      },
      body: JSON.stringify({ query }),
    });
    const { data, errors = [], extensions } = await response.json();
    const codes: string[] = errors.map((error: { extensions: { code: string } }) => error.extensions.code);
    return { data, codes, calls: waybill.calls().slice(before), counted: extensions?.upstream?.calls };
  }
  /** Opens the circuit breaker of a call, by failures of two tokens that no test uses otherwise. */
  async function openCircuit(
    query: string | ((time: number) => string),
    isOfCircuit: (line: string) => boolean,
  ) {
    statusOf = (line) => (isOfCircuit(line) ? 500 : undefined);
    for (let time = 0; time < 20; time += 1)
      await ask(typeof query === 'string' ? query : query(time), time % 2 === 0 ? 'eva' : 'ida');
    statusOf = () => undefined;
  }
  const callCount = async () => {
    const { body = '' } = (await telemetry.metrics?.page()) ?? {};
    const counts = body.matchAll(/^waybill_rest_call_duration_seconds_count\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  return { ...waybill, ask, openCircuit, callCount };
}

const isOrderPage = (line: string) => line.startsWith('GET /v1/orders?');
const orderPage = '{ orders(first: 1) { nodes { id } } }';

describe('while the circuit for orders is open', () => {
  test('a board prefetches no shipments, and opens no connection', async () => {
    await using waybill = await start();
    for (let time = 0; time < 2; time += 1) await waybill.ask(board);
    await waybill.openCircuit(orderPage, isOrderPage);
    const { connections } = waybill.service;
    const metric = await waybill.callCount();
    for (let time = 0; time < 50; time += 1) {
      expect(await waybill.ask(board)).toEqual({
        data: { orders: null },
        codes: [circuitOpen],
        calls: [],
        counted: 0,
      });
    }
    expect(waybill.service.connections).toBe(connections);
    expect(await waybill.callCount()).toBe(metric);
  });

  test('a board with a second root field makes only the call of this field', async () => {
    await using waybill = await start();
    for (let time = 0; time < 2; time += 1) await waybill.ask(board);
    await waybill.openCircuit(orderPage, isOrderPage);
    expect(await waybill.ask(`{ organization { id } ${board.slice(1)}`)).toEqual({
      data: { organization: { id: 'organization/1' }, orders: null },
      codes: [circuitOpen],
      calls: ['GET /v1/organizations/mine'],
      counted: 1,
    });
  });

  test('a board that waited for a slot makes no call', async () => {
    const held: ServerResponse[] = [];
    await using waybill = await start({ UPSTREAM_CONNECTIONS: '1' }, ({ request }) =>
      request.url === '/v1/shipments/77' ? (_request, response) => held.push(response) : undefined,
    );
    for (let time = 0; time < 2; time += 1) await waybill.ask(board);
    await waybill.openCircuit(orderPage, isOrderPage);
    const holding = waybill.ask('{ shipment(id: "77") { status } }', 'uma');
    await until(() => held.length === 1);
    const before = waybill.calls().length;
    const asked = waybill.ask(board);
    await new Promise((resolve) => setTimeout(resolve, 50));
    held[0]?.end(JSON.stringify({ name: 'shipments/77', status: 'DELIVERED', label: 'labels/77' }));
    await holding;
    expect(await asked).toMatchObject({ codes: [circuitOpen], counted: 0 });
    expect(waybill.calls().slice(before)).toEqual([]);
  });
});

test('if one invalid field makes the whole query fail, no field sends a call', async () => {
  await using waybill = await start();
  const tooMany = JSON.stringify(Array.from({ length: 101 }, (_, index) => `orders/${index}`));
  const nodes = `nodes(ids: ${tooMany}) { id }`;
  for (const query of [`{ ${nodes} ${board.slice(1)}`, `${board.slice(0, -1)} ${nodes} }`]) {
    expect(await waybill.ask(query)).toMatchObject({ codes: ['BAD_USER_INPUT'], calls: [], counted: 0 });
  }
});

test('if one invalid field becomes null, the other fields still send their calls', async () => {
  await using waybill = await start();
  expect(await waybill.ask('{ node(id: "7") { id } organization { id } }')).toEqual({
    data: { node: null, organization: { id: 'organization/1' } },
    codes: ['BAD_USER_INPUT'],
    calls: ['GET /v1/organizations/mine'],
    counted: 1,
  });
});

test.each([403, 429, 503])(
  'after a page of orders fails with %i, a board prefetches no shipments',
  async (status) => {
    await using waybill = await start();
    for (let time = 0; time < 2; time += 1) await waybill.ask(board);
    statusOf = (line) => (isOrderPage(line) ? status : undefined);
    // The first failure cannot be known before.
    expect((await waybill.ask(board)).calls).toEqual([ordersCall, shipmentsCall]);
    for (let time = 0; time < 5; time += 1) expect((await waybill.ask(board)).calls).toEqual([ordersCall]);
    statusOf = () => undefined;
    for (let time = 0; time < 2; time += 1)
      expect((await waybill.ask(board)).calls).toEqual([ordersCall, shipmentsCall]);
  },
);

test('a board prefetches nothing after REST has rejected its token', async () => {
  await using waybill = await start();
  for (let time = 0; time < 2; time += 1) await waybill.ask(board);
  statusOf = () => 401;
  await waybill.ask(board);
  for (let time = 0; time < 3; time += 1)
    expect(await waybill.ask(board)).toMatchObject({ calls: [ordersCall], counted: 1 });
});

test('a read beyond the read budget is neither sent nor counted', async () => {
  await using waybill = await start({ UPSTREAM_READS_PER_OPERATION: '1' });
  const shipment = (id: number) => `s${id}: shipment(id: "${id}") { status }`;
  expect(await waybill.ask(`{ ${[1, 2, 3].map(shipment)} }`)).toMatchObject({
    data: { s1: { status: 'DELIVERED' }, s2: null, s3: null },
    calls: ['GET /v1/shipments/1'],
    counted: 1,
  });
});

test('a query that the rate limit refuses makes no call', async () => {
  await using waybill = await start({ RATE_LIMIT_POINTS_PER_SECOND: '1' });
  const refusals: { calls: string[]; counted: unknown }[] = [];
  for (let time = 0; time < 5; time += 1) {
    const { codes, calls, counted } = await waybill.ask(board);
    if (codes.includes('RATE_LIMITED')) refusals.push({ calls, counted });
  }
  expect(refusals.length).toBeGreaterThanOrEqual(3);
  for (const refusal of refusals) expect(refusal).toEqual({ calls: [], counted: undefined });
});

describe('a write of several steps', () => {
  const mutation = (name: string, fields: object = {}) =>
    `mutation { ${name}(input: ${literal({ ...inputFor(name), ...fields })}) { __typename } }`;
  const shipOrder = (order: string) => mutation('shipOrder', { order });

  test('makes no call if an open circuit breaker refuses the read of the order', async () => {
    await using waybill = await start();
    const query = '{ order(id: "7") { status } }';
    await waybill.openCircuit(query, (line) => line === 'GET /v1/orders/7');
    // The merchant of the token decides about the lock of the order, so its call is always needed.
    expect(await waybill.ask(shipOrder('8'))).toMatchObject({ calls: ['GET /v1/organizations/mine'] });
    expect(await waybill.ask(shipOrder('9'))).toMatchObject({ codes: [circuitOpen], calls: [], counted: 0 });
  });

  test('does not count the POST if the key is lost before the POST', async () => {
    await using waybill = await start({}, undefined, { keyStore: { ...memoryStore, holds: () => false } });
    const query = mutation('createOrder', { idempotencyKey: 'lost before it is sent' });
    expect(await waybill.ask(query)).toMatchObject({
      codes: ['OVERLOADED'],
      calls: ['GET /v1/organizations/mine'],
      counted: 1,
    });
    expect(await waybill.callCount()).toBe(1);
  });

  test('reads no template for a message that an open circuit breaker refuses', async () => {
    await using waybill = await start();
    const text = mutation('sendMessage', { content: { text: 'a' } });
    await waybill.openCircuit(text, (line) => line.startsWith('POST '));
    const template = mutation('sendMessage');
    expect(await waybill.ask(template)).toMatchObject({ codes: [circuitOpen], calls: [], counted: 0 });
  });

  test.each<[string, (time: number) => object]>([
    ['createQuote', () => ({})],
    // The next shipment of one quote would first look for the lost one.
    ['createShipment', (time) => ({ quote: `q${time}` })],
  ])('reads nothing while the circuit of %s is open', async (step, fields) => {
    const quote = ({ request: { url = '' } }: BoardRequest) =>
      url.startsWith('/v1/quotes/') ? answerJson({ name: url.slice('/v1/'.length) }) : undefined;
    await using waybill = await start({}, quote);
    await waybill.openCircuit(
      (time) => mutation(step, fields(time)),
      (line) => line.startsWith('POST '),
    );
    expect(await waybill.ask(shipOrder('8'))).toMatchObject({ calls: ['GET /v1/organizations/mine'] });
    expect(await waybill.ask(shipOrder('9'))).toMatchObject({
      codes: [circuitOpen],
      calls: [],
      counted: 0,
    });
  });
});

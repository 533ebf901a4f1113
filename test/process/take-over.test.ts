import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startMain } from '../fixtures/main-process.ts';
import { order } from '../fixtures/order-to-create.ts';
import { orderInput, parcel } from '../fixtures/order-to-ship.ts';
import { type Answer, answerAsPromised, startService, until } from '../fixtures/rest-service.ts';
import { onceEach, shipmentsByOrder } from '../fixtures/rest-shipments.ts';
import { createDisk } from '../fixtures/troubled-disk.ts';

// A server whose key store another process uses, or whose disk hangs: what it says, what it refuses, and how it goes on.

const directory = mkdtempSync(join(tmpdir(), 'waybill-take-over-'));
afterAll(() => rmSync(directory, { recursive: true }));

const slow = { timeout: 100_000 };
const inUse =
  'Another process uses the file of the key store. Until that process ends, this server creates no shipments, and ' +
  'refuses mutations with an idempotencyKey.';
const noResponse = 'The key store did not respond within 2000 ms. Check its disk.';
const begin = 'the key store has a problem';
const works = 'the key store works again';
const posted = 'POST /v1/orders';
const success = { data: { createOrder: { __typename: 'CreateOrderSuccess', order: { id: 'orders/1' } } } };

/** Starts a server process before a REST service. @param file has the keys */
async function start(restUrl: URL, file: string, nodeOptions?: string[], bearer = 'secret-token') {
  const settings = { UPSTREAM_URL: restUrl.href, STATE_FILE: file, METRICS: 'yes' };
  const main = startMain(settings, nodeOptions);
  const banner = await main.banner();
  const url = new URL(/http:\/\/[^/]+/.exec(banner)?.[0] ?? '');
  async function ask(query: string, variables: object = {}) {
    const response = await fetch(new URL('/graphql', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  }
  return {
    ...main,
    text: banner,
    ask,
    createOrder: (fields: object) =>
      ask(
        `mutation ($input: CreateOrderInput!) {
          createOrder(input: $input) { __typename ... on CreateOrderSuccess { order { id } } }
        }`,
        { input: { ...order, ...fields } },
      ),
    ready: async () => {
      const response = await fetch(new URL('/health/ready', url));
      return { status: response.status, body: await response.json() };
    },
    metric: async () =>
      (await (await fetch(new URL('/metrics', url))).text())
        .split('\n')
        .filter((line) => line.startsWith('waybill_key_store_problem{')),
    /** The lines of the log about the store. */
    lines: (): { level: string; msg: string; problem?: string }[] =>
      main
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.includes('the key store'))
        .map((line) => JSON.parse(line)),
  };
}

type Server = Awaited<ReturnType<typeof start>>;

async function end({ signal, exit }: Server): Promise<void> {
  signal('SIGTERM');
  expect(await exit).toEqual({ code: 0, signal: null, errors: '' });
}

const ready = { status: 200, body: { status: 'ready' } };
const overloaded = (field: string, message: string) => ({
  data: { [field]: null },
  errors: [{ message, extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 } }],
});
const shipOrder = 'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }';
const toShip = { input: { order: 'a', origin: 'b', package: parcel } };

/** Holds the response to the first POST until the test calls `finish`. */
function holding() {
  let finish: (() => void) | undefined;
  let isFirst = true;
  const answer: Answer = (...given) => {
    const [{ method }] = given;
    if (method !== 'POST' || !isFirst) return answerAsPromised(...given);
    isFirst = false;
    finish = () => answerAsPromised(...given);
    return undefined;
  };
  return { answer, isHeld: () => finish !== undefined, finish: () => finish?.() };
}

describe('a second server on the file of the first', slow, () => {
  test('refuses what needs the store until the first server ends, and says so', async () => {
    await using service = await startService(answerAsPromised);
    const file = join(directory, 'second');
    const first = await start(service.url, file);
    const second = await start(service.url, file);
    expect(second.text).toContain(`\nKeys      in ${file}. WARNING: ${inUse}\n`);
    expect(await second.ready()).toEqual({ status: 200, body: { status: 'ready', problem: inUse } });
    await until(() => second.lines().length > 0);
    expect(second.lines()).toMatchObject([{ level: 'warn', msg: begin, problem: inUse }]);
    expect(await second.metric()).toEqual(['waybill_key_store_problem{kind="failure"} 1']);

    expect(await second.createOrder({ idempotencyKey: 'k' })).toMatchObject(overloaded('createOrder', inUse));
    expect(await second.ask(shipOrder, toShip)).toMatchObject(overloaded('shipOrder', inUse));
    expect(service.lines()).toEqual([]);
    expect(await second.createOrder({})).toEqual(success);
    expect(await second.ask('{ order(id: "a") { id } }')).toEqual({ data: { order: { id: 'orders/a' } } });
    expect(await first.createOrder({ idempotencyKey: 'k' })).toEqual(success);

    await end(first);
    await expect.poll(() => second.ready()).toEqual(ready);
    const postsBefore = service.lines().filter((line) => line === posted).length;
    expect(await second.createOrder({ idempotencyKey: 'k' })).toEqual(success);
    expect(service.lines().filter((line) => line === posted)).toHaveLength(postsBefore);
    await until(() => second.lines().length > 1);
    expect(second.lines().map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', begin],
      ['warn', works],
    ]);
    expect(await second.metric()).toEqual([]);
    await end(second);
  });

  test('resumes the write of a first server that was killed, and sends no second POST', async () => {
    const { answer, isHeld } = holding();
    await using service = await startService(answer);
    const file = join(directory, 'killed');
    const first = await start(service.url, file);
    const second = await start(service.url, file);
    const fields = { idempotencyKey: 'k', referenceId: 'r' };
    const cutOff = expect(first.createOrder(fields)).rejects.toThrow();
    await until(isHeld);
    first.signal('SIGKILL');
    await cutOff;
    await expect.poll(() => second.ready()).toEqual(ready);
    const unknown = { data: { createOrder: { __typename: 'OutcomeUnknown' } } };
    expect(await second.createOrder(fields)).toEqual(unknown);
    expect(await second.createOrder({ ...fields, sellingPriceCents: 1 })).toEqual({
      data: { createOrder: { __typename: 'Conflict' } },
    });
    expect(service.lines().filter((line) => line === posted)).toHaveLength(1);
    expect(service.lines()).toContainEqual(expect.stringMatching(/^GET \/v1\/orders\?.*search=r/));
    await end(second);
  });

  test('pays for one shipment after the first server was killed during shipOrder', async () => {
    const begin = new Date();
    const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 3_000 } });
    const file = join(directory, 'shipping');
    const token = sandbox.tokens.first;
    const first = await start(new URL(sandbox.url), file, [], token);
    const second = await start(new URL(sandbox.url), file, [], token);
    const { data } = await first.createOrder(orderInput);
    const id = data.createOrder.order.id;
    const input = { order: id, origin: 'origins/ca4', package: parcel, idempotencyKey: 'k' };
    // REST does the POST, and the response never ends.
    const drip = { kind: 'drip', bytes: 1, everyMs: 60_000, method: 'POST', path: '/v1/shipments' } as const;
    sandbox.faults.add({ ...drip, times: 1 });
    const cutOff = expect(first.ask(shipOrder, { input })).rejects.toThrow();
    await until(() => sandbox.requests.lines().includes('POST /v1/shipments'));
    first.signal('SIGKILL');
    await cutOff;
    await expect.poll(() => second.ready()).toEqual(ready);
    const ask = async () => (await second.ask(shipOrder, { input })).data?.shipOrder?.__typename;
    await expect.poll(ask).toBe('ShipOrderSuccess');
    expect(await shipmentsByOrder(sandbox, begin)).toEqual(onceEach([id]));
    await end(second);
    await sandbox.close();
  });

  test('has the result of a write that ran when the first server got SIGTERM', async () => {
    const { answer, isHeld, finish } = holding();
    await using service = await startService(answer);
    const file = join(directory, 'rolling');
    const first = await start(service.url, file);
    const running = first.createOrder({ idempotencyKey: 'k' });
    await until(isHeld);
    first.signal('SIGTERM');
    const second = await start(service.url, file);
    expect(await second.createOrder({ idempotencyKey: 'k' })).toMatchObject(overloaded('createOrder', inUse));
    finish();
    expect(await running).toEqual(success);
    expect(await first.exit).toEqual({ code: 0, signal: null, errors: '' });
    await expect.poll(() => second.ready()).toEqual(ready);
    expect(await second.createOrder({ idempotencyKey: 'k' })).toEqual(success);
    expect(service.lines().filter((line) => line === posted)).toHaveLength(1);
    await end(second);
  });
});

test('queries go on while the disk of the keys hangs, and so do writes without a key', slow, async () => {
  await using service = await startService(answerAsPromised);
  const folder = mkdtempSync(join(directory, 'disk-'));
  const disk = createDisk(folder);
  const server = await start(service.url, join(folder, 'keys'), disk.nodeOptions);
  expect(await server.createOrder({ idempotencyKey: 'k' })).toEqual(success);
  disk.become('hangs');
  const refused = server.createOrder({ idempotencyKey: 'other' });
  const query = { data: { order: { id: 'orders/a' } } };
  expect(await server.ask('{ order(id: "a") { id } }')).toEqual(query);
  expect(await server.createOrder({})).toEqual(success);
  expect(await refused).toMatchObject(overloaded('createOrder', noResponse));
  expect(await server.ask(shipOrder, toShip)).toMatchObject(overloaded('shipOrder', noResponse));
  expect(await server.ready()).toEqual({ status: 200, body: { status: 'ready', problem: noResponse } });
  expect(await server.metric()).toEqual(['waybill_key_store_problem{kind="failure"} 1']);
  expect(await server.ask('{ order(id: "a") { id } }')).toEqual(query);
  disk.heal();
  await expect.poll(() => server.ready()).toEqual(ready);
  expect(await server.createOrder({ idempotencyKey: 'other' })).toEqual(success);
  await until(() => server.lines().length > 1);
  expect(server.lines()).toMatchObject([
    { level: 'warn', msg: begin, problem: noResponse },
    { level: 'warn', msg: works },
  ]);
  expect(await server.metric()).toEqual([]);
  await end(server);
});

test('a server starts while the disk of the keys hangs', slow, async () => {
  await using service = await startService(answerAsPromised);
  const folder = mkdtempSync(join(directory, 'disk-'));
  const disk = createDisk(folder);
  disk.become('hangs');
  const server = await start(service.url, join(folder, 'keys'), disk.nodeOptions);
  expect(server.text).toContain(`WARNING: ${noResponse}\n`);
  expect(await server.createOrder({ idempotencyKey: 'k' })).toMatchObject(
    overloaded('createOrder', noResponse),
  );
  expect(service.lines()).toEqual([]);
  expect(await server.createOrder({})).toEqual(success);
  disk.heal();
  await expect.poll(() => server.createOrder({ idempotencyKey: 'k' })).toEqual(success);
  await end(server);
});

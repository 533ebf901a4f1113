import { expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createLoaders } from '../../../src/loaders/loaders.ts';
import { withSlot } from '../../../src/loaders/scan/list-scan.ts';
import { createLoaderStates } from '../../../src/loaders/tenant-state.ts';
import { startHolding, until } from '../../fixtures/rest-service.ts';

/** `reads` has the names of those that were asked for. */
function createPages() {
  const reads: string[] = [];
  return {
    reads,
    /** Asks for a page of a token that REST has accepted, until `end` is called or `signal` aborts. */
    async ask(name: string, token: object, signal = new CancelSource()) {
      const page = Promise.withResolvers<string>();
      const result = withSlot({ owner: { token, connection: undefined }, signal }, () => {
        reads.push(name);
        return page.promise;
      });
      await settle();
      const end = async () => {
        page.resolve(name);
        await settle();
      };
      const fail = async () => {
        page.reject(new Error(name));
        await settle();
      };
      return { result, end, fail };
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('one token reads two pages of scans at once, in the order in which they were asked for', async () => {
  const { reads, ask } = createPages();
  const token = {};
  const [first, second] = [await ask('first', token), await ask('second', token)];
  const third = await ask('third', token);
  const fourth = await ask('fourth', token);
  expect(reads).toEqual(['first', 'second']);
  await second.end();
  expect(reads).toEqual(['first', 'second', 'third']);
  await first.end();
  expect(reads).toEqual(['first', 'second', 'third', 'fourth']);
  await Promise.all([third.end(), fourth.end()]);
  expect(await Promise.all([first, second, third, fourth].map(({ result }) => result))).toEqual(reads);
});

test('a token does not wait for the pages of other tokens', async () => {
  const { reads, ask } = createPages();
  for (const token of Array.from({ length: 50 }, () => ({}))) {
    await ask('first', token);
    await ask('second', token);
    await ask('third', token);
  }
  expect(Map.groupBy(reads, (name) => name)).toEqual(
    new Map([
      ['first', Array.from({ length: 50 }, () => 'first')],
      ['second', Array.from({ length: 50 }, () => 'second')],
    ]),
  );
});

test('a page that fails gives back its turn', async () => {
  const { reads, ask } = createPages();
  const token = {};
  const first = await ask('first', token);
  await ask('second', token);
  await ask('third', token);
  const failure = expect(first.result).rejects.toThrow('first');
  await first.fail();
  await failure;
  expect(reads).toEqual(['first', 'second', 'third']);
});

test('an operation that ends does not wait for its turn, and takes no turn of the others', async () => {
  const { reads, ask } = createPages();
  const token = {};
  const first = await ask('first', token);
  await ask('second', token);
  const [waits, hasEnded] = [new CancelSource(), new CancelSource()];
  await ask('waits', token, waits);
  await ask('third', token);
  hasEnded.abort(new Error('the operation has ended'));
  await ask('ended', token, hasEnded);
  expect(reads).toEqual(['first', 'second', 'ended']);
  waits.abort(new Error('the operation has ended'));
  await settle();
  expect(reads).toEqual(['first', 'second', 'ended', 'waits']);
  await first.end();
  expect(reads).toEqual(['first', 'second', 'ended', 'waits', 'third']);
});

test('the operations of one token read two pages of their scans at once', async () => {
  await using rest = await startHolding();
  const states = createLoaderStates(readConfig({}));
  const scan = (list: 'orders' | 'shipments', rows: number) => {
    const loaders = createLoaders(rest.api, rest.callContext(), states);
    return list === 'orders'
      ? loaders.orderScans({})(rows, (page) => page)
      : loaders.shipmentScans({})(rows, (page) => page);
  };
  const pages = [scan('orders', 100), scan('shipments', 101), scan('orders', 102)];
  const sent = ['GET /v1/orders?pageSize=100', 'GET /v1/shipments?pageSize=101'];
  await until(() => rest.held.length === 2);
  await settle();
  expect(rest.service.lines().sort()).toEqual(sent);
  rest.give({ orders: [], shipments: [] });
  await until(() => rest.service.lines().length === 3);
  expect(rest.service.lines().slice(2)).toEqual(['GET /v1/orders?pageSize=102']);
  rest.give({ orders: [], shipments: [] });
  rest.give({ orders: [], shipments: [] });
  const empty = { page: { rows: [], nextPageToken: undefined } };
  expect(await Promise.all(pages)).toMatchObject([empty, empty, empty]);
});

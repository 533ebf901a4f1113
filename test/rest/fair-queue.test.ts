import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFairQueue, type FairQueue } from '../../src/rest/fair-queue.ts';
import type { Tenant } from '../../src/rest/tenant.ts';
import { errorOf } from './service.ts';

const ana: Tenant = { id: 'ana', writes: 0 };
const eva: Tenant = { id: 'eva', writes: 0 };
const ida: Tenant = { id: 'ida', writes: 0 };

/** Puts calls into a queue, which end one after the other as they are told to. */
function createCalls(queue: FairQueue) {
  const begun: string[] = [];
  const underWay: (() => void)[] = [];
  return {
    begun,
    underWay,
    ask(tenant: Tenant, name: string, kind: 'read' | 'write' = 'read'): Promise<string> {
      return queue.run(tenant, kind, () => {
        begun.push(name);
        return new Promise((resolve) => underWay.push(() => resolve(name)));
      });
    },
    /** Ends the oldest call under way, and lets the next one begin. */
    async endOne(): Promise<void> {
      underWay.shift()?.();
      await afterEvents();
    },
  };
}

test('at most so many calls are under way, and each that ends makes room for one', async () => {
  const { ask, begun, underWay, endOne } = createCalls(createFairQueue(3));
  const answers = [0, 1, 2, 3, 4].map((number) => ask(number % 2 === 0 ? ana : eva, `${number}`));
  await afterEvents();
  for (const most of [3, 3, 3, 2, 1]) {
    expect(underWay).toHaveLength(most);
    await endOne();
  }
  expect(begun).toEqual(['0', '1', '2', '3', '4']);
  expect(await Promise.all(answers)).toEqual(['0', '1', '2', '3', '4']);
});

test("a tenant's thousand waiting calls keep another's one waiting for no more than one turn", async () => {
  const { ask, begun, endOne } = createCalls(createFairQueue(1));
  for (let number = 0; number < 1_000; number += 1) void ask(ana, `ana ${number}`);
  void ask(eva, 'eva 0');
  await afterEvents();
  for (let turn = 0; turn < 3; turn += 1) await endOne();
  expect(begun).toEqual(['ana 0', 'ana 1', 'eva 0', 'ana 2']);
});

test('tenants take turns, each with its own calls in their order', async () => {
  const { ask, begun, endOne } = createCalls(createFairQueue(2));
  for (const number of [0, 1, 2, 3]) void ask(ana, `ana ${number}`);
  for (const number of [0, 1]) void ask(eva, `eva ${number}`);
  void ask(ida, 'ida 0');
  for (let turn = 0; turn < 7; turn += 1) await endOne();
  expect(begun).toEqual(['ana 0', 'ana 1', 'ana 2', 'eva 0', 'ida 0', 'ana 3', 'eva 1']);
});

test("a tenant's reads that wait do not hold up its writes", async () => {
  const { ask, begun, endOne } = createCalls(createFairQueue(1));
  for (const number of [0, 1, 2]) void ask(ana, `read ${number}`);
  for (const number of [0, 1]) void ask(ana, `write ${number}`, 'write');
  void ask(eva, 'eva');
  for (let turn = 0; turn < 6; turn += 1) await endOne();
  expect(begun).toEqual(['read 0', 'write 0', 'eva', 'write 1', 'read 1', 'read 2']);
});

test.each<[string, () => Promise<never>]>([
  ['fails', () => Promise.reject(new Error('broken'))],
  [
    'throws before it has begun',
    () => {
      throw new Error('broken');
    },
  ],
])('a call that %s frees its place', async (_how, fail) => {
  const queue = createFairQueue(1);
  const errors = [0, 1, 2].map(() => errorOf(queue.run(ana, 'read', fail)));
  const answer = queue.run(ana, 'read', async () => 'answered');
  expect((await Promise.all(errors)).map(({ message }) => message)).toEqual(['broken', 'broken', 'broken']);
  expect(await answer).toBe('answered');
});

test('a queue that has emptied goes on', async () => {
  const queue = createFairQueue(1);
  for (const name of ['first', 'second']) {
    const answers = [0, 1, 2].map(() => queue.run(ana, 'read', async () => name));
    expect(await Promise.all(answers)).toEqual([name, name, name]);
  }
});

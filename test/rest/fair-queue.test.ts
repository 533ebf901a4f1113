import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { neverCancelled } from '../../src/rest/cancellation.ts';
import { createFairQueue, type FairQueue } from '../../src/rest/fair-queue.ts';
import type { Away } from '../../src/rest/queued-call.ts';
import { scheduled } from '../../src/rest/scheduled-call.ts';
import type { Tenant } from '../../src/rest/tenant.ts';
import { Turns } from '../../src/rest/turns.ts';
import { errorOf } from './service.ts';

const ana: Tenant = { id: 'ana', writes: 0 };
const eva: Tenant = { id: 'eva', writes: 0 };
const ida: Tenant = { id: 'ida', writes: 0 };

/** Makes a call in the turn that this queue alone gives it. */
function run<Answer>(
  queue: FairQueue,
  tenant: Tenant,
  kind: 'read' | 'write',
  call: (away: Away) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const turns = new Turns(queue, tenant, Number.POSITIVE_INFINITY);
  return scheduled(turns, kind, call, signal ?? neverCancelled);
}

/** Puts calls into a queue, which end one after the other as they are told to. */
function createCalls(queue: FairQueue) {
  const begun: string[] = [];
  const underWay: (() => void)[] = [];
  return {
    begun,
    underWay,
    ask(
      tenant: Tenant,
      name: string,
      kind: 'read' | 'write' = 'read',
      signal?: AbortSignal,
    ): Promise<string> {
      const call = () => {
        begun.push(name);
        return new Promise<string>((resolve) => underWay.push(() => resolve(name)));
      };
      return run(queue, tenant, kind, call, signal);
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
  const errors = [0, 1, 2].map(() => errorOf(run(queue, ana, 'read', fail)));
  const answer = run(queue, ana, 'read', async () => 'answered');
  expect((await Promise.all(errors)).map(({ message }) => message)).toEqual(['broken', 'broken', 'broken']);
  expect(await answer).toBe('answered');
});

test('a queue that has emptied goes on', async () => {
  const queue = createFairQueue(1);
  for (const name of ['first', 'second']) {
    const answers = [0, 1, 2].map(() => run(queue, ana, 'read', async () => name));
    expect(await Promise.all(answers)).toEqual([name, name, name]);
  }
});

test.each(['read', 'write'] as const)(
  'a %s that is given up leaves its place to others at once',
  async (kind) => {
    const queue = createFairQueue(1, 4);
    const { ask, begun, endOne } = createCalls(queue);
    const first = ask(ana, 'first');
    const client = new AbortController();
    const gone = [0, 1].map((number) => errorOf(ask(ana, `gone ${number}`, kind, client.signal)));
    const stays = ask(eva, 'stays');
    expect(queue.waiting()).toBe(3);
    client.abort();
    expect((await Promise.all(gone)).map(({ name }) => name)).toEqual(['AbortedError', 'AbortedError']);
    expect(queue.waiting()).toBe(1);
    const later = ask(ana, 'later');
    const tooLate = errorOf(ask(ana, 'never', kind, client.signal));
    expect((await tooLate).name).toBe('AbortedError');
    for (let turn = 0; turn < 3; turn += 1) await endOne();
    expect(await Promise.all([first, stays, later])).toEqual(['first', 'stays', 'later']);
    expect([begun, queue.waiting()]).toEqual([['first', 'stays', 'later'], 0]);
  },
);

test('a call that has begun is not given up here', async () => {
  const { ask, endOne } = createCalls(createFairQueue(1));
  const client = new AbortController();
  const answer = ask(ana, 'begun', 'write', client.signal);
  await afterEvents();
  client.abort();
  await endOne();
  expect(await answer).toBe('begun');
});

test('a call that pauses leaves its place to others, and has its turn again after them', async () => {
  const queue = createFairQueue(1);
  const { ask, begun, endOne } = createCalls(queue);
  const { signal } = new AbortController();
  const pause = Promise.withResolvers<void>();
  const paused = run(queue, ana, 'read', async (away) => {
    await away(() => pause.promise, signal);
    begun.push('paused');
    return 'paused';
  });
  const other = ask(eva, 'other');
  await afterEvents();
  expect(begun).toEqual(['other']);
  pause.resolve();
  await afterEvents();
  expect([begun, queue.waiting()]).toEqual([['other'], 1]);
  await endOne();
  expect(await Promise.all([paused, other])).toEqual(['paused', 'other']);
  expect(begun).toEqual(['other', 'paused']);
});

test('a call that finds no place after its pause, or is given up in it, leaves none behind', async () => {
  const queue = createFairQueue(1, 2);
  const { ask, endOne } = createCalls(queue);
  const client = new AbortController();
  const pauses = [0, 1].map(() => Promise.withResolvers<void>());
  const [full, given] = pauses.map(({ promise }, index) =>
    errorOf(
      run(queue, index === 0 ? ana : ida, 'read', (away) =>
        away(() => promise, client.signal).then(() => 'made'),
      ),
    ),
  );
  await afterEvents();
  const answers = [ask(eva, 'a'), ask(eva, 'b'), ask(ana, 'c')];
  await afterEvents();
  pauses[0]?.resolve();
  expect((await full)?.name).toBe('OverloadedError');
  client.abort();
  pauses[1]?.resolve();
  expect((await given)?.name).toBe('AbortedError');
  for (let turn = 0; turn < 3; turn += 1) await endOne();
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
  // As many at a time as before.
  const last = ['d', 'e'].map((name) => ask(eva, name));
  await afterEvents();
  expect(queue.waiting()).toBe(1);
  for (let turn = 0; turn < 2; turn += 1) await endOne();
  expect(await Promise.all(last)).toEqual(['d', 'e']);
});

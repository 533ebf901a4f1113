import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairQueue, type QueueEntry } from '../../src/concurrency/fair-queue.ts';
import type { Tenant } from '../../src/concurrency/tenant.ts';
import { errorOf } from '../fixtures/rest-service.ts';

const ana: Tenant = { id: 'ana', writes: 0 };
const eva: Tenant = { id: 'eva', writes: 0 };
const ida: Tenant = { id: 'ida', writes: 0 };

/** A slot of weight 1 that settles a promise. */
class Slot implements QueueEntry<Slot> {
  before: Slot | undefined;
  after: Slot | undefined;
  readonly weight = 1;
  onSlotGranted: () => void = () => {};
}

type CallQueue = FairQueue<Tenant, Slot>;

function createQueue(capacity: number, maxWaiting = Number.POSITIVE_INFINITY): CallQueue {
  return new FairQueue({ capacity, maxWaiting, overloaded: () => new Error('full') });
}

/** Waits for a slot. @throws the reason of the signal. */
function acquire(queue: CallQueue, tenant: Tenant, signal?: AbortSignal): Promise<Slot> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const slot = new Slot();
    const leave = () => {
      queue.remove(tenant, slot);
      reject(signal?.reason);
    };
    slot.onSlotGranted = () => {
      signal?.removeEventListener('abort', leave);
      resolve(slot);
    };
    signal?.addEventListener('abort', leave);
    const error = queue.acquire(tenant, slot);
    if (error !== undefined) reject(error);
  });
}

/** Runs in a slot of this queue. */
async function run<Answer>(
  queue: CallQueue,
  tenant: Tenant,
  make: (slot: Slot) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const slot = await acquire(queue, tenant, signal);
  try {
    return await make(slot);
  } finally {
    queue.release(tenant, slot);
  }
}

/** Puts calls into a queue. `endOne` ends the oldest running call. */
function createCalls(queue: CallQueue) {
  const begun: string[] = [];
  const running: (() => void)[] = [];
  return {
    begun,
    running,
    ask(tenant: Tenant, name: string, signal?: AbortSignal): Promise<string> {
      const make = () => {
        begun.push(name);
        return new Promise<string>((resolve) => running.push(() => resolve(name)));
      };
      return run(queue, tenant, make, signal);
    },
    /** Ends the oldest running call, and lets the next one start. */
    async endOne(): Promise<void> {
      running.shift()?.();
      await afterEvents();
    },
  };
}

test('at most `capacity` calls run, and each call that ends makes room for one', async () => {
  const { ask, begun, running, endOne } = createCalls(createQueue(3));
  const answers = [0, 1, 2, 3, 4].map((number) => ask(number % 2 === 0 ? ana : eva, `${number}`));
  await afterEvents();
  for (const most of [3, 3, 3, 2, 1]) {
    expect(running).toHaveLength(most);
    await endOne();
  }
  expect(begun).toEqual(['0', '1', '2', '3', '4']);
  expect(await Promise.all(answers)).toEqual(['0', '1', '2', '3', '4']);
});

test("a tenant's thousand waiting calls keep another's one waiting for no more than one turn", async () => {
  const { ask, begun, endOne } = createCalls(createQueue(1));
  for (let number = 0; number < 1_000; number += 1) void ask(ana, `ana ${number}`);
  void ask(eva, 'eva 0');
  await afterEvents();
  for (let turn = 0; turn < 3; turn += 1) await endOne();
  expect(begun).toEqual(['ana 0', 'ana 1', 'eva 0', 'ana 2']);
});

test('tenants take turns, each with its own calls in their order', async () => {
  const { ask, begun, endOne } = createCalls(createQueue(2));
  for (const number of [0, 1, 2, 3]) void ask(ana, `ana ${number}`);
  for (const number of [0, 1]) void ask(eva, `eva ${number}`);
  void ask(ida, 'ida 0');
  for (let turn = 0; turn < 7; turn += 1) await endOne();
  expect(begun).toEqual(['ana 0', 'ana 1', 'ana 2', 'eva 0', 'ida 0', 'ana 3', 'eva 1']);
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
  const queue = createQueue(1);
  const errors = [0, 1, 2].map(() => errorOf(run(queue, ana, fail)));
  const answer = run(queue, ana, async () => 'answered');
  expect((await Promise.all(errors)).map(({ message }) => message)).toEqual(['broken', 'broken', 'broken']);
  expect(await answer).toBe('answered');
});

test('a queue that has emptied goes on', async () => {
  const queue = createQueue(1);
  for (const name of ['first', 'second']) {
    const answers = [0, 1, 2].map(() => run(queue, ana, async () => name));
    expect(await Promise.all(answers)).toEqual([name, name, name]);
  }
});

test('a call that is given up leaves its place to others at once', async () => {
  const queue = createQueue(1, 4);
  const { ask, begun, endOne } = createCalls(queue);
  const first = ask(ana, 'first');
  const client = new AbortController();
  const gone = [0, 1].map((number) => errorOf(ask(ana, `gone ${number}`, client.signal)));
  const stays = ask(eva, 'stays');
  expect(queue.waiting).toBe(3);
  client.abort();
  expect((await Promise.all(gone)).map(({ name }) => name)).toEqual(['AbortError', 'AbortError']);
  expect(queue.waiting).toBe(1);
  const later = ask(ana, 'later');
  const tooLate = errorOf(ask(ana, 'never', client.signal));
  expect((await tooLate).name).toBe('AbortError');
  for (let turn = 0; turn < 3; turn += 1) await endOne();
  expect(await Promise.all([first, stays, later])).toEqual(['first', 'stays', 'later']);
  expect([begun, queue.waiting]).toEqual([['first', 'stays', 'later'], 0]);
});

test('a call that has begun is not given up here', async () => {
  const { ask, endOne } = createCalls(createQueue(1));
  const client = new AbortController();
  const answer = ask(ana, 'begun', client.signal);
  await afterEvents();
  client.abort();
  await endOne();
  expect(await answer).toBe('begun');
});

test('a call that pauses leaves its place to others, and has its turn again after them', async () => {
  const queue = createQueue(1);
  const { ask, begun, endOne } = createCalls(queue);
  const pause = Promise.withResolvers<void>();
  const paused = run(queue, ana, async (slot) => {
    queue.release(ana, slot);
    await pause.promise;
    queue.acquire(ana, slot);
    await new Promise<void>((resolve) => {
      slot.onSlotGranted = resolve;
    });
    begun.push('paused');
    return 'paused';
  });
  const other = ask(eva, 'other');
  await afterEvents();
  expect(begun).toEqual(['other']);
  pause.resolve();
  await afterEvents();
  expect([begun, queue.waiting]).toEqual([['other'], 1]);
  await endOne();
  expect(await Promise.all([paused, other])).toEqual(['paused', 'other']);
  expect(begun).toEqual(['other', 'paused']);
});

test('slots that weigh more leave room for fewer, and one that weighs more than all has all', () => {
  const granted: string[] = [];
  const queue = new FairQueue<string, WeighedEntry>({ capacity: 10, overloaded: () => new Error('full') });
  const Weighed = entriesOf(queue, granted);
  const [light, heavy] = [
    new Weighed('a', 6),
    new Weighed('b', 100),
    new Weighed('c', 1),
    new Weighed('d', 9),
  ];
  if (light === undefined || heavy === undefined) throw new Error('four, as above');
  expect([granted, queue.waiting]).toEqual([['a 6', 'b 100'], 2]);
  queue.release('a', light);
  expect(granted).toEqual(['a 6', 'b 100']);
  queue.release('b', heavy);
  expect([granted, queue.waiting]).toEqual([['a 6', 'b 100', 'c 1', 'd 9'], 0]);
});

test('an owner has at most its weight, and owners that are closed wait, while others go on', () => {
  const granted: string[] = [];
  const closed = new Set<string>();
  const queue = new FairQueue<string, WeighedEntry>({
    capacity: 10,
    maxWeightOf: () => 5,
    isOpenTo: ({ owner }) => !closed.has(owner),
    overloaded: () => new Error('full'),
  });
  const Entry = entriesOf(queue, granted);
  const take = () => granted.splice(0);
  const heavy = new Entry('a', 7);
  const [two, four] = [new Entry('a', 2), new Entry('a', 4)];
  const other = new Entry('b', 1);
  // A slot that weighs more than an owner may have is granted alone.
  expect([take(), queue.waiting]).toEqual([['a 7', 'b 1'], 2]);
  queue.release('a', heavy);
  expect([take(), queue.waiting]).toEqual([['a 2'], 1]);
  // The first of an owner is next, also where a later one would fit.
  const one = new Entry('a', 1);
  expect([take(), queue.waiting]).toEqual([[], 2]);
  queue.remove('a', four);
  expect([take(), queue.waiting]).toEqual([['a 1'], 0]);

  closed.add('a');
  for (const [owner, entry] of [
    ['a', two],
    ['a', one],
    ['b', other],
  ] as const)
    queue.release(owner, entry);
  const waits = new Entry('a', 1);
  const goesOn = new Entry('b', 3);
  expect([take(), queue.waiting]).toEqual([['b 3'], 1]);
  closed.clear();
  queue.grantWaiting();
  expect([take(), queue.waiting]).toEqual([['a 1'], 0]);
  queue.release('a', waits);
  queue.release('b', goesOn);
});

test('an owner without a slot gets a light one beside a full capacity', () => {
  const granted: string[] = [];
  const queue = new FairQueue<string, WeighedEntry>({
    capacity: 10,
    lightWeight: 2,
    overloaded: () => new Error('full'),
  });
  const Entry = entriesOf(queue, granted);
  const take = () => granted.splice(0);
  const full = new Entry('a', 10);
  const light = new Entry('b', 2);
  const [second, third] = [new Entry('b', 1), new Entry('b', 1)];
  new Entry('c', 3);
  new Entry('a', 1);
  expect([take(), queue.waiting]).toEqual([['a 10', 'b 2'], 4]);
  queue.release('b', light);
  expect([take(), queue.waiting]).toEqual([['b 1'], 3]);
  queue.release('b', second);
  expect([take(), queue.waiting]).toEqual([['b 1'], 2]);
  queue.release('a', full);
  expect([take(), queue.waiting]).toEqual([['c 3', 'a 1'], 0]);
  queue.release('b', third);
});

test('a stream of light entries keeps no heavy one waiting', () => {
  const granted: string[] = [];
  const queue = new FairQueue<string, WeighedEntry>({
    capacity: 10,
    lightWeight: 2,
    overloaded: () => new Error('full'),
  });
  const Entry = entriesOf(queue, granted);
  const full = new Entry('a', 10);
  new Entry('heavy', 5);
  const light = Array.from({ length: 20 }, (_, index) => new Entry(`light ${index}`, 2));
  queue.release('a', full);
  expect(granted).toContain('heavy 5');
  for (const entry of light) queue.release(entry.owner, entry);
  new Entry('b', 5);
  expect(granted).toContain('b 5');
});

test('starts nothing more in a round without time, and one waiting entry in each later round', async () => {
  const granted: string[] = [];
  let hasTime = true;
  const queue = new FairQueue<string, WeighedEntry>({
    capacity: 10,
    hasTime: () => hasTime,
    overloaded: () => new Error('full'),
  });
  const Entry = entriesOf(queue, granted);
  new Entry('a', 1);
  hasTime = false;
  for (const owner of ['a', 'a', 'b']) new Entry(owner, 1);
  expect([granted, queue.waiting]).toEqual([['a 1'], 3]);
  hasTime = true;
  queue.grantWaiting();
  expect([granted, queue.waiting]).toEqual([['a 1', 'a 1'], 2]);
  await new Promise(setImmediate);
  expect(granted).toEqual(['a 1', 'a 1', 'b 1']);
  await new Promise(setImmediate);
  expect([granted, queue.waiting]).toEqual([['a 1', 'a 1', 'b 1', 'a 1'], 0]);
});

test('a closed entry of an owner does not keep the next one waiting', () => {
  const granted: string[] = [];
  const queue = new FairQueue<string, WeighedEntry>({
    capacity: 1,
    isOpenTo: ({ weight }) => weight !== 2,
    overloaded: () => new Error('full'),
  });
  const Entry = entriesOf(queue, granted);
  const first = new Entry('a', 1);
  new Entry('a', 2);
  new Entry('a', 3);
  queue.release('a', first);
  expect([granted, queue.waiting]).toEqual([['a 1', 'a 3'], 1]);
});

interface WeighedEntry extends QueueEntry<WeighedEntry> {
  readonly owner: string;
}

/** A class of entries that ask for their slot at once. `granted` gets their owner and weight. */
function entriesOf(queue: FairQueue<string, WeighedEntry>, granted: string[]) {
  return class implements WeighedEntry {
    before: WeighedEntry | undefined;
    after: WeighedEntry | undefined;
    readonly owner: string;
    readonly weight: number;
    constructor(owner: string, weight: number) {
      this.owner = owner;
      this.weight = weight;
      expect(queue.acquire(owner, this)).toBeUndefined();
    }
    onSlotGranted() {
      granted.push(`${this.owner} ${this.weight}`);
    }
  };
}

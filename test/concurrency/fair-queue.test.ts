import { expect, test } from 'vitest';
import { FairQueue, type FairQueueOptions, QueueEntry } from '../../src/concurrency/fair-queue.ts';
import { type Excess, type Owner, OwnerUsage } from '../../src/concurrency/owner.ts';

const accepted = (name: string): Owner => ({ token: { name }, connection: undefined });
const [ana, eva, ida] = [accepted('ana'), accepted('eva'), accepted('ida')];
/** A token that REST has not accepted, on one of two connections. */
const connections = [{}, {}] as const;
const other = (connection: 0 | 1, token: object = {}): Owner => ({
  token,
  connection: connections[connection],
});

class Entry extends QueueEntry {
  readonly name: string;
  readonly owner: Owner;
  readonly weight: number;
  readonly onSlotGranted: () => void;

  constructor(name: string, owner: Owner, weight: number, onSlotGranted: () => void) {
    super();
    this.name = name;
    this.owner = owner;
    this.weight = weight;
    this.onSlotGranted = onSlotGranted;
  }
}

/** A queue, and the names of its entries in the order in which they got their slots. */
function createQueue(options: FairQueueOptions) {
  const queue = new FairQueue(options);
  const granted: string[] = [];
  const outcomes: ('granted' | 'waiting' | Excess)[] = [];
  return {
    queue,
    granted,
    outcomes,
    /** Asks for a slot. */
    ask(name: string, owner: Owner, weight = 1): Entry {
      const entry = new Entry(name, owner, weight, () => granted.push(name));
      const outcome = queue.acquire(entry);
      outcomes.push(outcome);
      if (outcome === 'granted') granted.push(name);
      return entry;
    },
  };
}

test('the queue grants slots up to its capacity', () => {
  const { queue, granted, ask, outcomes } = createQueue({ capacity: 2 });
  const first = ask('1', ana);
  ask('2', eva);
  ask('3', ana);
  ask('4', eva);
  expect([granted, outcomes]).toEqual([
    ['1', '2'],
    ['granted', 'granted', 'waiting', 'waiting'],
  ]);
  queue.leave(first);
  expect([granted, queue.waiting]).toEqual([['1', '2', '3'], 1]);
  ask('5', ida);
  expect([granted, queue.waiting]).toEqual([['1', '2', '3'], 2]);
});

test('a new token waits for at most one queued entry of a busy token', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const entries = Array.from({ length: 1_000 }, (_, number) => ask(`ana ${number}`, ana));
  ask('eva', eva);
  for (const entry of entries.slice(0, 2)) queue.leave(entry);
  expect(granted).toEqual(['ana 0', 'ana 1', 'eva']);
});

test('waiting tokens take turns in the order of their own entries', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const entries = ['a0', 'a1', 'a2'].map((name) => ask(name, ana));
  entries.push(...['e0', 'e1'].map((name) => ask(name, eva)), ask('i0', ida));
  while (granted.length < entries.length) {
    const latest = entries.find(({ name }) => name === granted.at(-1));
    if (latest !== undefined) queue.leave(latest);
  }
  expect(granted).toEqual(['a0', 'a1', 'e0', 'i0', 'a2', 'e1']);
});

test('accepted tokens that wait are served before the next unaccepted token', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const first = ask('other 1', other(0));
  const second = ask('other 2', other(0));
  ask('other 3', other(1));
  queue.leave(first);
  const fromAna = ask('ana', ana);
  ask('eva', eva);
  queue.leave(second);
  queue.leave(fromAna);
  expect(granted).toEqual(['other 1', 'other 2', 'ana', 'eva']);
});

test('unaccepted tokens are served although accepted tokens keep arriving', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const first = ask('ana', ana);
  ask('other', other(0));
  ask('eva', eva);
  queue.leave(first);
  expect(granted).toEqual(['ana', 'other']);
});

test('connections of unaccepted tokens alternate within one turn', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const entries = [ask('first', ida)];
  for (const number of [0, 1, 2]) entries.push(ask(`one ${number}`, other(0)));
  for (const number of [0, 1]) entries.push(ask(`two ${number}`, other(1)));
  for (const number of [0, 1]) entries.push(ask(`ana ${number}`, ana));
  while (granted.length < entries.length) {
    const latest = entries.find(({ name }) => name === granted.at(-1));
    if (latest !== undefined) queue.leave(latest);
  }
  expect(granted).toEqual(['first', 'one 0', 'ana 0', 'two 0', 'ana 1', 'one 1', 'two 1', 'one 2']);
});

test('the queue reserves a quarter of the slots for accepted tokens', () => {
  const { queue, granted, ask } = createQueue({ capacity: 4 });
  const [first] = ['1', '2', '3', '4'].map((name) => ask(name, other(0)));
  expect([granted, queue.waiting]).toEqual([['1', '2', '3'], 1]);
  ask('ana', ana);
  expect(granted).toEqual(['1', '2', '3', 'ana']);
  if (first !== undefined) queue.leave(first);
  expect(granted).toEqual(['1', '2', '3', 'ana', '4']);
});

test('the queue reserves a quarter of the waiting places for accepted tokens', () => {
  const { ask, outcomes } = createQueue({ capacity: 1, maxWaiting: 4 });
  for (const name of ['1', '2', '3', '4', '5']) ask(name, other(0));
  for (const name of ['6', '7']) ask(name, ana);
  expect(outcomes).toEqual([
    'granted',
    'waiting',
    'waiting',
    'waiting',
    { limit: 3, scope: 'tokens that the REST service has not accepted yet' },
    'waiting',
    { limit: 4, scope: 'all tokens' },
  ]);
});

test('one token occupies at most half of the waiting places', () => {
  const { ask, outcomes } = createQueue({ capacity: 1, maxWaiting: 4 });
  const token = {};
  ask('running', ida);
  for (const owner of [ana, ana, ana, other(0, token), other(1, token), other(0, token)]) ask('waits', owner);
  expect(outcomes.slice(1)).toEqual([
    'waiting',
    'waiting',
    { limit: 2, scope: 'this token' },
    'waiting',
    'waiting',
    { limit: 4, scope: 'all tokens' },
  ]);
});

test('an entry that stops waiting frees its place', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1, maxWaiting: 2 });
  const first = ask('first', ana);
  const gone = ask('gone', ana);
  queue.leave(gone);
  queue.leave(gone);
  ask('next', ana);
  expect(queue.waiting).toBe(1);
  queue.leave(first);
  expect([granted, queue.waiting]).toEqual([['first', 'next'], 0]);
});

test('an entry can wait again after it released its slot', () => {
  const { queue, granted, ask } = createQueue({ capacity: 1 });
  const pausing = ask('pausing', ana);
  const next = ask('next', eva);
  queue.leave(pausing);
  expect(queue.acquire(pausing)).toBe('waiting');
  queue.leave(next);
  expect(granted).toEqual(['pausing', 'next', 'pausing']);
});

test('a slot passes through 10,000 entries that release it immediately', () => {
  const queue = new FairQueue({ capacity: 1 });
  const first = new Entry('first', ana, 1, () => {});
  queue.acquire(first);
  const granted: number[] = [];
  for (let number = 0; number < 10_000; number += 1) {
    const entry: Entry = new Entry('short', ana, 1, () => {
      granted.push(number);
      queue.leave(entry);
    });
    queue.acquire(entry);
  }
  queue.leave(first);
  expect([granted.length, queue.waiting, queue.acquire(first)]).toEqual([10_000, 0, 'granted']);
});

test('an entry that is heavier than the capacity gets the whole capacity', () => {
  const { queue, granted, ask } = createQueue({ capacity: 10 });
  const light = ask('6', ana, 6);
  const heavy = ask('100', eva, 100);
  ask('1', ana, 1);
  ask('9', eva, 9);
  queue.leave(light);
  expect(granted).toEqual(['6', '100']);
  queue.leave(heavy);
  ask('1 more', ida);
  expect(granted).toEqual(['6', '100', '1', '9']);
});

test('the entries of one token get slots only up to a maximum total weight', () => {
  const { queue, granted, ask } = createQueue({ capacity: 10, maxWeightPerToken: 5 });
  // A slot that weighs more than a token may have is granted alone.
  const heavy = ask('7', ana, 7);
  ask('2', ana, 2);
  const four = ask('4', ana, 4);
  ask('eva 1', eva, 1);
  expect(granted).toEqual(['7', 'eva 1']);
  queue.leave(heavy);
  ask('1', ana, 1);
  expect(granted).toEqual(['7', 'eva 1', '2']);
  queue.leave(four);
  expect(granted).toEqual(['7', 'eva 1', '2', '1']);
});

test('an entry waits while the queue is closed to its owner', () => {
  const closed = new Set<Owner>([ana]);
  const isOpenTo = (owner: Owner) => !closed.has(owner);
  const { queue, granted, ask } = createQueue({ capacity: 10, isOpenTo });
  ask('ana', ana);
  ask('eva', eva);
  expect(granted).toEqual(['eva']);
  closed.clear();
  queue.grantWaiting();
  expect(granted).toEqual(['eva', 'ana']);
});

test('a queue that is closed to one token gives slots to others on the same connection', () => {
  const [closed, open] = [other(0), other(0)];
  const { queue, granted, ask } = createQueue({ capacity: 1, isOpenTo: (owner) => owner !== closed });
  const first = ask('first', ana);
  ask('closed', closed);
  ask('open', open);
  queue.leave(first);
  expect([granted, queue.waiting]).toEqual([['first', 'open'], 1]);
});

test('a queue that is closed to one token gives slots to other connections', () => {
  const closed = other(0);
  const { granted, ask } = createQueue({ capacity: 4, isOpenTo: (owner) => owner !== closed });
  ask('closed', closed);
  ask('open', other(1));
  expect(granted).toEqual(['open']);
});

test('a light entry of an owner without a slot is granted even above the capacity', () => {
  const { queue, granted, ask } = createQueue({ capacity: 10, maxWeightPerToken: 100, lightWeight: 2 });
  const full = ask('full', ana, 10);
  const light = ask('light', eva, 2);
  for (const [name, owner, weight] of [
    ['eva 1', eva, 1],
    ['ida 3', ida, 3],
    ['ana 1', ana, 1],
  ] as const)
    ask(name, owner, weight);
  expect(granted).toEqual(['full', 'light']);
  queue.leave(light);
  expect(granted).toEqual(['full', 'light', 'eva 1']);
  queue.leave(full);
  expect(granted).toEqual(['full', 'light', 'eva 1', 'ida 3', 'ana 1']);
});

test('a heavy entry is granted despite a stream of light entries', () => {
  const { queue, granted, ask } = createQueue({ capacity: 10, maxWeightPerToken: 100, lightWeight: 2 });
  const full = ask('full', ana, 10);
  ask('heavy', eva, 5);
  for (let number = 0; number < 20; number += 1) ask('light', accepted(`${number}`), 2);
  queue.leave(full);
  expect(granted).toContain('heavy');
});

test('the queue grants no slot while the time budget is exhausted', () => {
  let hasTime = true;
  const { queue, granted, ask } = createQueue({ capacity: 10, hasTime: () => hasTime });
  ask('1', ana);
  hasTime = false;
  for (const name of ['2', '3']) ask(name, ana);
  ask('eva', eva);
  expect(granted).toEqual(['1']);
  hasTime = true;
  queue.grantWaiting();
  expect(granted).toEqual(['1', '2', 'eva', '3']);
});

test('ownExcess limits tokens to equal shares only while the total is used up', () => {
  const shares = new OwnerUsage(100, 50);
  for (const [owner, amount] of [
    [ana, 49],
    [eva, 30],
    [ida, 20],
  ] as const)
    shares.add(owner, amount);
  const excesses = () => [ana, eva, ida, accepted('new')].map((owner) => shares.ownExcess(owner)?.scope);
  expect(excesses()).toEqual([undefined, undefined, undefined, undefined]);
  shares.add(ida, 5);
  expect(excesses()).toEqual(['this token', undefined, undefined, undefined]);
});

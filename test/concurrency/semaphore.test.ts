import { array, assert, constantFrom, integer, nat, oneof, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import type { Owner } from '../../src/concurrency/owner.ts';
import { Semaphore, type SemaphoreOptions, SimpleRequest } from '../../src/concurrency/semaphore.ts';
import type { Excess } from '../../src/concurrency/usage.ts';

const accepted = (name: string): Owner => ({ token: { name }, connection: undefined });
const [ana, eva, ida] = [accepted('ana'), accepted('eva'), accepted('ida')];
const connections = [{}, {}] as const;
/** A token that REST has not accepted, on one of two connections. */
const stranger = (connection: 0 | 1, token: object = {}): Owner => ({
  token,
  connection: connections[connection],
});

/** A semaphore, and the names of its requests in the order in which they got their slots. */
function createSlots(options: SemaphoreOptions) {
  const semaphore = new Semaphore(options);
  const granted: string[] = [];
  const outcomes: ('granted' | 'waiting' | Excess)[] = [];
  const requests = new Map<string, SimpleRequest>();
  return {
    semaphore,
    granted,
    outcomes,
    /** Asks for a slot. */
    ask(name: string, owner: Owner, weight = 1): SimpleRequest {
      const request = new SimpleRequest(owner, weight, () => granted.push(name));
      requests.set(name, request);
      const outcome = semaphore.acquire(request);
      outcomes.push(outcome);
      if (outcome === 'granted') granted.push(name);
      return request;
    },
    /** Gives back the latest slot until nothing more is granted. */
    drain() {
      let count: number;
      do {
        count = granted.length;
        const latest = requests.get(granted.at(-1) ?? '');
        if (latest !== undefined) semaphore.release(latest);
      } while (granted.length > count);
      return granted;
    },
  };
}

test('slots are granted up to the total, and then in the order of requests', () => {
  const { semaphore, granted, ask, outcomes } = createSlots({ total: 2 });
  const first = ask('1', ana);
  for (const name of ['2', '3', '4']) ask(name, ana);
  expect(outcomes).toEqual(['granted', 'granted', 'waiting', 'waiting']);
  semaphore.release(first);
  expect([granted, semaphore.waiting]).toEqual([['1', '2', '3'], 1]);
});

test('a token with one request waits for one request of a token with 1,000 requests', () => {
  const { semaphore, granted, ask } = createSlots({ total: 1 });
  const requests = Array.from({ length: 1_000 }, (_, number) => ask(`ana ${number}`, ana));
  ask('eva', eva);
  for (const request of requests.slice(0, 2)) semaphore.release(request);
  expect(granted).toEqual(['ana 0', 'ana 1', 'eva']);
});

test('waiting tokens take turns, and each gets its requests in order', () => {
  const { ask, drain } = createSlots({ total: 1 });
  for (const name of ['a0', 'a1', 'a2']) ask(name, ana);
  for (const name of ['e0', 'e1']) ask(name, eva);
  ask('i0', ida);
  expect(drain()).toEqual(['a0', 'a1', 'e0', 'i0', 'a2', 'e1']);
});

test('unaccepted tokens share one turn, and their connections alternate in it', () => {
  const { ask, drain } = createSlots({ total: 1 });
  ask('first', ida);
  for (const number of [0, 1, 2]) ask(`one ${number}`, stranger(0));
  for (const number of [0, 1]) ask(`two ${number}`, stranger(1));
  for (const number of [0, 1]) ask(`ana ${number}`, ana);
  expect(drain()).toEqual(['first', 'one 0', 'ana 0', 'two 0', 'ana 1', 'one 1', 'two 1', 'one 2']);
});

test('tokens that share a connection take turns on it', () => {
  const { ask, drain } = createSlots({ total: 1 });
  const [busy, fresh] = [{}, {}];
  ask('first', ana);
  for (const number of [0, 1, 2]) ask(`busy ${number}`, stranger(0, busy));
  ask('fresh', stranger(0, fresh));
  expect(drain()).toEqual(['first', 'busy 0', 'fresh', 'busy 1', 'busy 2']);
});

test('tokens that REST has not accepted leave a quarter of the slots to others', () => {
  const { semaphore, granted, ask } = createSlots({ total: 4 });
  const [first] = ['1', '2', '3', '4'].map((name) => ask(name, stranger(0)));
  expect(granted).toEqual(['1', '2', '3']);
  ask('ana', ana);
  expect(granted).toEqual(['1', '2', '3', 'ana']);
  if (first !== undefined) semaphore.release(first);
  expect(granted).toEqual(['1', '2', '3', 'ana', '4']);
});

test('tokens that REST has not accepted get the slot of a semaphore with one slot', () => {
  const { granted, ask } = createSlots({ total: 1 });
  ask('made up', stranger(0));
  expect(granted).toEqual(['made up']);
});

test('one token fills at most half of the queue, unaccepted tokens three quarters', () => {
  const { ask, outcomes } = createSlots({ total: 1, maxWaiting: 4 });
  ask('running', ida);
  for (const name of ['1', '2', '3']) ask(name, ana);
  for (const name of ['4', '5', '6']) ask(name, stranger(0));
  expect(outcomes.slice(1)).toEqual([
    'waiting',
    'waiting',
    { limit: 2, scope: 'this token' },
    'waiting',
    'waiting',
    { limit: 4, scope: 'all tokens' },
  ]);
  const others = createSlots({ total: 1, maxWaiting: 4 });
  for (const name of ['0', '1', '2', '3', '4']) others.ask(name, stranger(0));
  expect(others.outcomes.at(-1)).toEqual({
    limit: 3,
    scope: 'tokens that the REST service has not accepted yet',
  });
});

test('a refused request takes no slot, and its release frees none', () => {
  const { semaphore, ask, outcomes } = createSlots({ total: 1, maxWaiting: 1 });
  const first = ask('first', ana);
  ask('waits', eva);
  semaphore.release(ask('refused', ida));
  expect([outcomes.at(-1), semaphore.waiting]).toEqual([{ limit: 1, scope: 'all tokens' }, 1]);
  semaphore.release(first);
  expect(semaphore.waiting).toBe(0);
});

test('a request that stops waiting twice frees only one place', () => {
  const { semaphore, granted, ask } = createSlots({ total: 1, maxWaiting: 2 });
  const first = ask('first', ana);
  const gone = ask('gone', ana);
  semaphore.release(gone);
  semaphore.release(gone);
  ask('next', ana);
  semaphore.release(first);
  expect([granted, semaphore.waiting]).toEqual([['first', 'next'], 0]);
});

test('a request can wait again after it has given back its slot', () => {
  const { semaphore, granted, ask } = createSlots({ total: 1 });
  const pausing = ask('pausing', ana);
  const next = ask('next', eva);
  semaphore.release(pausing);
  expect(semaphore.acquire(pausing)).toBe('waiting');
  semaphore.release(next);
  expect(granted).toEqual(['pausing', 'next', 'pausing']);
});

test('a slot passes through 10,000 requests that each return the slot immediately', () => {
  const semaphore = new Semaphore({ total: 1 });
  const first = new SimpleRequest(ana, 1, () => {});
  semaphore.acquire(first);
  let granted = 0;
  for (let number = 0; number < 10_000; number += 1) {
    const request: SimpleRequest = new SimpleRequest(ana, 1, () => {
      granted += 1;
      semaphore.release(request);
    });
    semaphore.acquire(request);
  }
  semaphore.release(first);
  expect([granted, semaphore.waiting, semaphore.acquire(first)]).toEqual([10_000, 0, 'granted']);
});

test('a request that is heavier than the total starts before later light requests', () => {
  const { semaphore, granted, ask } = createSlots({ total: 10 });
  const light = ask('6', ana, 6);
  const heavy = ask('100', eva, 100);
  ask('1', ana, 1);
  semaphore.release(light);
  expect(granted).toEqual(['6', '100']);
  semaphore.release(heavy);
  expect(granted).toEqual(['6', '100', '1']);
});

test('one token gets at most `perToken` slots, or a single heavier request', () => {
  const { semaphore, granted, ask } = createSlots({ total: 10, perToken: 5 });
  const heavy = ask('7', ana, 7);
  ask('2', ana, 2);
  ask('eva', eva, 1);
  expect(granted).toEqual(['7', 'eva']);
  semaphore.release(heavy);
  ask('3', ana, 3);
  ask('1', ana, 1);
  expect(granted).toEqual(['7', 'eva', '2', '3']);
});

test('a request waits only while mayStart() refuses its token', () => {
  const closed = new Set<Owner>([ana]);
  const { semaphore, granted, ask } = createSlots({ total: 10, mayStart: (owner) => !closed.has(owner) });
  ask('ana', ana);
  ask('eva', eva);
  expect(granted).toEqual(['eva']);
  closed.clear();
  semaphore.grantWaiting();
  expect(granted).toEqual(['eva', 'ana']);
});

const owners = [ana, eva, ida, ...([0, 1] as const).flatMap((one) => [stranger(one), stranger(one)])];

/** What a client of the semaphore does. */
const step = oneof(
  record({
    kind: constantFrom('ask' as const),
    owner: nat(owners.length - 1),
    weight: integer({ min: 1, max: 12 }),
  }),
  record({ kind: constantFrom('end' as const), index: nat() }),
);

test('random requests stay within all limits, start in order, and all get a slot', () => {
  const total = 10;
  const perToken = 5;
  const maxWaiting = 8;
  assert(
    property(array(step, { maxLength: 200 }), (steps) => {
      const semaphore = new Semaphore({ total, perToken, maxWaiting });
      const open = new Set<SimpleRequest>();
      const waiting: SimpleRequest[] = [];
      const check = () => {
        const granted = [...open].filter(({ slot }) => slot === 'granted');
        const weightOf = (of: (owner: Owner) => boolean) =>
          granted.filter(({ owner }) => of(owner)).map(({ weight }) => weight);
        const sum = (weights: number[]) => weights.reduce((one, other) => one + other, 0);
        // The one that reached the total may be above it.
        const all = weightOf(() => true);
        expect(sum(all) - Math.max(0, ...all)).toBeLessThan(total);
        for (const owner of [ana, eva, ida]) {
          const weights = weightOf((one) => one === owner);
          expect(weights.length <= 1 || sum(weights) <= perToken).toBe(true);
        }
        const strangers = weightOf(({ connection }) => connection !== undefined);
        expect(strangers.length <= 1 || sum(strangers) <= (3 / 4) * total).toBe(true);
        expect(semaphore.waiting).toBe([...open].filter(({ slot }) => slot === 'waiting').length);
        expect(semaphore.waiting).toBeLessThanOrEqual(maxWaiting);
      };
      for (const done of steps) {
        if (done.kind === 'ask') {
          const owner = owners[done.owner] ?? ana;
          const request: SimpleRequest = new SimpleRequest(owner, done.weight, () => {
            // First come, first served within a token and its connection.
            const first = waiting.find(
              (one) => one.owner.token === owner.token && one.owner.connection === owner.connection,
            );
            expect(request).toBe(first);
            waiting.splice(waiting.indexOf(request), 1);
          });
          const outcome = semaphore.acquire(request);
          if (outcome === 'waiting') waiting.push(request);
          if (typeof outcome === 'string') open.add(request);
        } else {
          const request = [...open][done.index % Math.max(1, open.size)];
          if (request !== undefined) {
            open.delete(request);
            if (request.slot === 'waiting') waiting.splice(waiting.indexOf(request), 1);
            semaphore.release(request);
          }
        }
        check();
      }
      // Nothing starves: as slots are given back, all that wait get one.
      while (open.size > 0) {
        const request = [...open].find(({ slot }) => slot === 'granted');
        expect(request).toBeDefined();
        if (request === undefined) return;
        open.delete(request);
        semaphore.release(request);
        check();
      }
      expect(waiting).toEqual([]);
    }),
  );
});

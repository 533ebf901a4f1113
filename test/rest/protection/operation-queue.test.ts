import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { neverAborted } from '../../../src/concurrency/cancellation.ts';
import { FairQueue } from '../../../src/concurrency/fair-queue.ts';
import type { Owner } from '../../../src/concurrency/owner.ts';
import { OperationQueue } from '../../../src/rest/protection/operation-queue.ts';
import { acceptedOwner } from '../../fixtures/owner.ts';
import { errorOf } from '../../fixtures/rest-service.ts';

const ana = acceptedOwner({ id: 'ana', writes: 0 });
const eva = acceptedOwner({ id: 'eva', writes: 0 });
const call = { method: 'GET', path: '/v1/orders' } as const;

function createQueue(capacity: number, maxWaiting = Number.POSITIVE_INFINITY): FairQueue {
  return new FairQueue({ capacity, maxWaiting });
}

/** An operation with calls. `endOne` ends the oldest running call. */
function createOperation(queue: FairQueue, owner: Owner, maxConcurrent: number) {
  const operation = new OperationQueue(queue, owner, maxConcurrent);
  const begun: number[] = [];
  const running: (() => void)[] = [];
  return {
    begun,
    running,
    ask: (count: number, signal: AbortSignal | typeof neverAborted = neverAborted) =>
      Array.from({ length: count }, async (_, number) => {
        const slot = await operation.acquireSlot(call, signal);
        begun.push(number);
        const answer = await new Promise<number>((resolve) => running.push(() => resolve(number)));
        slot.release();
        return answer;
      }),
    async endOne(): Promise<void> {
      running.shift()?.();
      await afterEvents();
    },
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

test('an operation has at most `maxConcurrent` running calls, in their order', async () => {
  const { ask, begun, running, endOne } = createOperation(createQueue(64), ana, 16);
  const answers = ask(20);
  await afterEvents();
  expect(begun).toEqual(numbers(16));
  for (let turn = 0; turn < 20; turn += 1) {
    expect(running).toHaveLength(Math.min(16, 20 - turn));
    await endOne();
  }
  expect([await Promise.all(answers), begun]).toEqual([numbers(20), numbers(20)]);
});

test('it takes what is free, and has an eighth of as many in the queue of all', async () => {
  const queue = createQueue(10);
  const { ask, begun, running, endOne } = createOperation(queue, ana, 16);
  const answers = ask(20);
  await afterEvents();
  expect([begun, queue.waiting]).toEqual([numbers(10), 2]);
  // Another's has its turn next, and after it those of the first again, each of which makes room for one.
  const other = createOperation(queue, eva, 16);
  void other.ask(1);
  await endOne();
  await endOne();
  expect([begun.length, other.begun, queue.waiting]).toEqual([11, [0], 2]);
  await other.endOne();
  while (running.length > 0) await endOne();
  expect([await Promise.all(answers), begun, queue.waiting]).toEqual([numbers(20), numbers(20), 0]);
});

test('forty operations of a hundred calls each fill the queue to an eighth of what they may have at once', async () => {
  const queue = createQueue(64, 1_000);
  const owners = numbers(40).map((number) => acceptedOwner({ id: `${number}`, writes: 0 }));
  const operations = owners.map((owner) => createOperation(queue, owner, 64));
  const answers = operations.flatMap(({ ask }) => ask(100));
  await afterEvents();
  expect(queue.waiting).toBe(320 - 8);
  while (operations.some(({ running }) => running.length > 0)) {
    for (const { endOne } of operations) await endOne();
  }
  expect(await Promise.all(answers)).toEqual(owners.flatMap(() => numbers(100)));
});

test('calls that are refused or given up make room as well, and are none that wait', async () => {
  const queue = createQueue(1, 2);
  const { ask, endOne } = createOperation(queue, ana, 16);
  const [first, second, ...refused] = ask(6);
  expect((await Promise.all(refused.map((answer) => errorOf(answer)))).map(({ name }) => name)).toEqual(
    numbers(4).map(() => 'OverloadedError'),
  );
  expect(queue.waiting).toBe(1);
  await endOne();
  await endOne();
  expect(await Promise.all([first, second])).toEqual([0, 1]);

  const client = new AbortController();
  const other = createOperation(queue, eva, 1);
  const held = ask(1);
  const given = other.ask(3, client.signal).map((answer) => errorOf(answer));
  client.abort();
  expect((await Promise.all(given)).map(({ name }) => name)).toEqual(numbers(3).map(() => 'AbortedError'));
  expect([queue.waiting, other.begun]).toEqual([0, []]);
  await endOne();
  expect(await Promise.all(held)).toEqual([0]);
});

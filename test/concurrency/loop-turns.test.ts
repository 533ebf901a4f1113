import { expect, test } from 'vitest';
import { LoopTurns } from '../../src/concurrency/loop-turns.ts';
import { Semaphore, SimpleRequest } from '../../src/concurrency/semaphore.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a listener is called in the next turn of the event loop', async () => {
  const turns = new LoopTurns();
  let called = 0;
  turns.onNext(() => {
    called += 1;
  });
  expect(called).toBe(0);
  await nextTurn();
  await nextTurn();
  expect(called).toBe(1);
});

test('a listener waits for a turn without a new connection, for at most 50 turns', async () => {
  const turns = new LoopTurns();
  let called = 0;
  const note = () => {
    called += 1;
  };
  turns.onNext(note);
  for (let turn = 0; turn < 10; turn += 1) {
    turns.onConnection();
    await nextTurn();
    expect(called).toBe(0);
  }
  await nextTurn();
  expect(called).toBe(1);
  turns.onNext(note);
  let waited = 0;
  for (; called < 2 && waited < 100; waited += 1) {
    turns.onConnection();
    await nextTurn();
  }
  expect(waited).toBe(51);
});

test('a semaphore with a pace starts requests up to a weight in each turn', async () => {
  const slots = new Semaphore({ total: 100, pace: { turns: new LoopTurns(), perTurn: 6 } });
  const started: string[] = [];
  const ask = (name: string, weight: number) => {
    const request: SimpleRequest = new SimpleRequest({ token: slots, connection: undefined }, weight, () => {
      started.push(name);
    });
    if (slots.acquire(request) === 'granted') request.onSlotGranted();
  };
  ask('5', 5);
  ask('10', 10);
  ask('1', 1);
  ask('7', 7);
  // The one that reaches the weight may exceed it.
  expect(started).toEqual(['5', '10']);
  await nextTurn();
  expect(started).toEqual(['5', '10', '1', '7']);
});

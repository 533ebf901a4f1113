import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDefer, LoopBudget } from '../../src/concurrency/event-loop-round.ts';

afterEach(() => vi.unstubAllGlobals());

test('deferred steps run in order at the end of the event-loop round', () => {
  const ends: (() => void)[] = [];
  vi.stubGlobal('setImmediate', (end: () => void) => ends.push(end));
  const defer = createDefer();
  const taken: string[] = [];
  const seen = () => ({ taken: [...taken], ends: ends.length });
  defer(() => {
    taken.push('one');
    defer(() => taken.push('three'));
  });
  defer(() => taken.push('two'));
  expect(seen()).toEqual({ taken: [], ends: 1 });
  ends.shift()?.();
  expect(seen()).toEqual({ taken: ['one', 'two'], ends: 1 });
  ends.shift()?.();
  expect(seen()).toEqual({ taken: ['one', 'two', 'three'], ends: 0 });
});

test('ready messages of all ports are read before deferred steps run', async () => {
  const defer = createDefer();
  const seen: string[] = [];
  await new Promise<void>((done) => {
    const ports = Array.from({ length: 3 }, () => new MessageChannel());
    for (const [index, { port1, port2 }] of ports.entries()) {
      port2.onmessage = () => {
        seen.push(`read ${index}`);
        defer(() => {
          seen.push(`taken ${index}`);
          port2.close();
          if (index === 2) done();
        });
      };
      port1.postMessage('ready');
    }
  });
  expect(seen).toEqual(['read 0', 'read 1', 'read 2', 'taken 0', 'taken 1', 'taken 2']);
});

/** A budget whose rounds, ticks and clock a test drives. */
function createTestBudget() {
  const rounds: (() => void)[] = [];
  vi.stubGlobal('setImmediate', (endRound: () => void) => rounds.push(endRound));
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const budget = new LoopBudget();
  return {
    budget,
    work(ms: number) {
      nowMs += ms;
    },
    endRound() {
      rounds.shift()?.();
    },
    isCalm: () => rounds.length === 0,
  };
}

/** Runs all promises, and then what waits for them. */
const settlePromises = () => new Promise<void>((resolve) => setTimeout(resolve));

describe('the time budget of an event-loop round', () => {
  test('allows no new work after 10 ms, until the following round has ended', () => {
    const { budget, work, endRound, isCalm } = createTestBudget();
    expect(budget.hasTime()).toBe(true);
    work(9);
    expect(budget.hasTime()).toBe(true);
    work(1);
    expect(budget.hasTime()).toBe(false);
    endRound();
    expect(budget.hasTime()).toBe(false);
    endRound();
    expect(isCalm()).toBe(true);
    expect(budget.hasTime()).toBe(true);
  });

  test('allows new work immediately after a short round', () => {
    const { budget, work, endRound, isCalm } = createTestBudget();
    budget.hasTime();
    work(9);
    endRound();
    expect(isCalm()).toBe(true);
    work(9);
    expect(budget.hasTime()).toBe(true);
  });

  test('pauses work after a long round until a round accepts no connection', () => {
    const { budget, work, endRound, isCalm } = createTestBudget();
    const source = vi.fn();
    budget.hasTime();
    work(50);
    budget.hasTimeFor(source);
    endRound();
    for (let round = 0; round < 20; round += 1) {
      budget.onConnection();
      endRound();
    }
    expect([source.mock.calls.length, isCalm()]).toEqual([0, false]);
    endRound();
    expect(source).toHaveBeenCalledOnce();
  });

  test('pauses work for at most 50 rounds, even if every round accepts a connection', () => {
    const { budget, work, endRound } = createTestBudget();
    const source = vi.fn();
    budget.hasTime();
    work(50);
    budget.hasTimeFor(source);
    endRound();
    let rounds = 0;
    while (source.mock.calls.length === 0) {
      budget.onConnection();
      endRound();
      rounds += 1;
    }
    expect(rounds).toBe(51);
  });

  test('stops new work after 600 nodes, until all microtasks have run', async () => {
    const { budget } = createTestBudget();
    budget.start(599);
    expect(budget.hasTime()).toBe(true);
    budget.start(0);
    expect(budget.hasTime()).toBe(false);
    await settlePromises();
    expect(budget.hasTime()).toBe(true);
  });

  test('counts the time of all microtasks that a piece of work queues', async () => {
    const { budget, work } = createTestBudget();
    const source = vi.fn();
    const runPiece = async () => {
      for (let step = 0; step < 10; step += 1) {
        await null;
        work(1);
      }
    };
    budget.hasTime();
    budget.start(3_000);
    void runPiece();
    budget.hasTimeFor(source);
    await settlePromises();
    expect(source).not.toHaveBeenCalled();
  });
});

import { afterEach, expect, test, vi } from 'vitest';
import { createDefer, createOnePerRound } from '../../src/concurrency/event-loop-round.ts';

afterEach(() => vi.unstubAllGlobals());

test('the steps of a round run at its end, in order, and steps deferred by them at the end of the next round', () => {
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

test('messages ready on several ports are all read before a step that the first message defers', async () => {
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

test('steps of one each round run in order, and each after a round of its own', () => {
  const rounds: (() => void)[] = [];
  vi.stubGlobal('setImmediate', (runRound: () => void) => rounds.push(runRound));
  const onePerRound = createOnePerRound();
  const taken: string[] = [];
  const takenAfterRound = () => {
    rounds.shift()?.();
    return taken.join(' ');
  };
  onePerRound(() => {
    taken.push('one');
    onePerRound(() => taken.push('three'));
  });
  onePerRound(() => taken.push('two'));
  expect([takenAfterRound(), takenAfterRound(), takenAfterRound()]).toEqual([
    'one',
    'one two',
    'one two three',
  ]);
  expect(rounds).toEqual([]);
  onePerRound(() => taken.push('four'));
  expect(takenAfterRound()).toBe('one two three four');
});

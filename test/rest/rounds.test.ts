import { afterEach, expect, test, vi } from 'vitest';
import { createRounds } from '../../src/rest/rounds.ts';

afterEach(() => vi.unstubAllGlobals());

/** Rounds of an event loop that goes on when it is told to. */
function roundsByHand() {
  const waiting: (() => void)[] = [];
  vi.stubGlobal('setImmediate', (end: () => void) => waiting.push(end));
  return { inRound: createRounds(), end: () => waiting.shift()?.(), waiting };
}

test('the steps of a round are taken at its end, in order, and what they put off at the end of the next', () => {
  const { inRound, end, waiting } = roundsByHand();
  const taken: string[] = [];
  inRound(() => {
    taken.push('one');
    inRound(() => taken.push('three'));
  });
  inRound(() => taken.push('two'));
  expect({ taken, rounds: waiting.length }).toEqual({ taken: [], rounds: 1 });
  end();
  expect({ taken, rounds: waiting.length }).toEqual({ taken: ['one', 'two'], rounds: 1 });
  end();
  expect({ taken, rounds: waiting.length }).toEqual({ taken: ['one', 'two', 'three'], rounds: 0 });
});

test('a step that throws keeps none of the others from being taken', () => {
  const { inRound, end, waiting } = roundsByHand();
  const taken: string[] = [];
  inRound(() => taken.push('one'));
  inRound(() => {
    throw new Error('of its own');
  });
  inRound(() => taken.push('two'));
  inRound(() => taken.push('three'));
  expect(end).toThrow('of its own');
  end();
  expect({ taken, rounds: waiting.length }).toEqual({ taken: ['one', 'two', 'three'], rounds: 0 });
});

test('what lies ready on several ports is all read before a step that the first of it has put off', async () => {
  const inRound = createRounds();
  const seen: string[] = [];
  await new Promise<void>((done) => {
    const ports = Array.from({ length: 3 }, () => new MessageChannel());
    for (const [index, { port1, port2 }] of ports.entries()) {
      port2.onmessage = () => {
        seen.push(`read ${index}`);
        inRound(() => {
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

import { afterEach, expect, test, vi } from 'vitest';
import { createDefer } from '../../src/concurrency/defer.ts';

afterEach(() => vi.unstubAllGlobals());

test('deferred steps run in order at the end of a turn of the event loop', () => {
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

import { describe, expect, test } from 'vitest';
import { OutcomeUnknownError, UnavailableError } from '../../src/rest/errors.ts';
import { ConflictError } from '../../src/writes/errors.ts';
import { createIdempotency, type Work } from '../../src/writes/idempotency.ts';
import { createMemoryStore } from '../../src/writes/idempotency-store.ts';
import { createSharedStore, type WorkerStore } from '../../src/writes/shared-store.ts';

const raise = (error: unknown) => {
  throw error;
};
const secret = Buffer.from('a secret');
const tenant = { id: 'tenant', writes: 0 };
const someRounds = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Three processes that share a store. The test decides when their work ends. */
function startProcesses() {
  const shared = createSharedStore(createMemoryStore({ maxKeys: 20_000 }));
  const log: string[] = [];

  function join(name: string) {
    const store: WorkerStore = shared.join();
    const { runOnce } = createIdempotency({ store, secret, report: raise });
    return {
      leave: store.leave,
      ask: (part: Partial<Work<unknown, string>> = {}) =>
        runOnce(
          {
            operation: 'write',
            input: 1,
            perform: async () => {
              log.push(`${name} performs`);
              return name;
            },
            resume: async (progress) => {
              log.push(`${name} resumes from ${progress}`);
              return name;
            },
            ...part,
          },
          { tenant, key: 'k' },
        ),
    };
  }
  return { log, a: join('a'), b: join('b'), c: join('c') };
}

describe('a key that another process works on', () => {
  test('is waited for, and gives what that came to', async () => {
    const { log, a, b, c } = startProcesses();
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = a.ask({ perform: () => promise });
    const others = [b.ask(), c.ask()];
    await someRounds();
    resolve('done by a');
    expect(await Promise.all([first, ...others])).toEqual(['done by a', 'done by a', 'done by a']);
    expect(log).toEqual([]);
  });

  test('is a conflict at once with another input', async () => {
    const { log, a, b } = startProcesses();
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = a.ask({ perform: () => promise });
    await expect(b.ask({ input: 2 })).rejects.toThrow(ConflictError);
    resolve('done by a');
    expect(await first).toBe('done by a');
    await expect(b.ask({ input: 2 })).rejects.toThrow(ConflictError);
    expect(log).toEqual([]);
  });

  test('is done by one of those who wait where nothing was done', async () => {
    const { log, a, b, c } = startProcesses();
    const { promise, reject } = Promise.withResolvers<string>();
    const unreachable = new UnavailableError('no address');
    const first = a.ask({ perform: () => promise });
    const others = [b.ask(), c.ask()];
    await someRounds();
    reject(unreachable);
    await expect(first).rejects.toBe(unreachable);
    expect(await Promise.all(others)).toEqual(['b', 'b']);
    expect(log).toEqual(['b performs']);
  });

  test('is resumed by one of those who wait where it may have been done, one after the other', async () => {
    const { log, a, b, c } = startProcesses();
    const unknown = new OutcomeUnknownError('no answer');
    const { promise, reject } = Promise.withResolvers<string>();
    const first = a.ask({
      perform: async (checkpoint) => {
        await checkpoint('step 1');
        return promise;
      },
    });
    const second = b.ask({
      resume: async (progress) => {
        log.push(`b resumes without result from ${progress}`);
        throw unknown;
      },
    });
    const third = c.ask();
    await someRounds();
    reject(unknown);
    await expect(first).rejects.toBe(unknown);
    await expect(second).rejects.toBe(unknown);
    expect(await third).toBe('c');
    expect(log).toEqual(['b resumes without result from step 1', 'c resumes from step 1']);
  });
});

describe('a process that is gone', () => {
  test('leaves what it was at as of no known end, and never free', async () => {
    const { log, a, b } = startProcesses();
    void a.ask({ perform: () => new Promise(() => {}) });
    const other = b.ask();
    await someRounds();
    a.leave();
    expect(await other).toBe('b');
    expect(log).toEqual(['b resumes from undefined']);
  });

  test('takes no key that it waited for', async () => {
    const { log, a, b, c } = startProcesses();
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = a.ask({ perform: () => promise });
    const gone = b.ask();
    await someRounds();
    b.leave();
    resolve('done by a');
    await first;
    await expect(gone).rejects.toThrow('gone');
    expect(await c.ask()).toBe('done by a');
    expect(log).toEqual([]);
  });
});

test('a store that fails leaves no key waited for', async () => {
  let isDown = true;
  const memoryStore = createMemoryStore({ maxKeys: 20_000 });
  const shared = createSharedStore({
    ...memoryStore,
    claim: async (...given) => (isDown ? raise(new Error('the store is down')) : memoryStore.claim(...given)),
  });
  const [a, b] = [shared.join(), shared.join()];
  await expect(a.claim('k', { fingerprint: 'x' })).rejects.toThrow('the store is down');
  isDown = false;
  expect(await b.claim('k', { fingerprint: 'x' })).toBeUndefined();
});

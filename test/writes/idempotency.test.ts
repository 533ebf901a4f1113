import { describe, expect, test } from 'vitest';
import { AbortedError, OutcomeUnknownError, StatusError, UnavailableError } from '../../src/rest/errors.ts';
import { ConflictError } from '../../src/writes/errors.ts';
import { createIdempotency, type IdempotencyKey, type Work } from '../../src/writes/idempotency.ts';
import { createMemoryStore, type IdempotencyStore } from '../../src/writes/idempotency-store.ts';

const raise = (error: unknown) => {
  throw error;
};

const secret = Buffer.from('a secret');
const keyed: IdempotencyKey = { tenant: { id: 'tenant', writes: 0 }, key: 'k' };

/** An idempotency, and a log of the work that was run. */
function startWork() {
  const { runOnce } = createIdempotency({
    store: createMemoryStore({ maxKeys: 20_000 }),
    report: raise,
    secret,
  });
  const log: string[] = [];
  return {
    log,
    /** Runs work once; `who` names the request in the log. */
    ask: (who: string, part: Partial<Work<unknown, string>> = {}, otherwise: Partial<IdempotencyKey> = {}) =>
      runOnce(
        {
          operation: 'write',
          input: { a: 1 },
          perform: async () => {
            log.push(`${who} performs`);
            return who;
          },
          resume: async (progress) => {
            log.push(`${who} resumes from ${progress}`);
            return who;
          },
          ...part,
        },
        { ...keyed, ...otherwise },
      ),
  };
}

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};
const unknown = new OutcomeUnknownError('no answer');
const aborted = new AbortedError('the client has left');
const broken = new TypeError('a bug');
const unreachable = new UnavailableError('no address');

describe('a key', () => {
  test('gives the same outcome, done once', async () => {
    const { log, ask } = startWork();
    expect([await ask('a'), await ask('b')]).toEqual(['a', 'a']);
    expect(await Promise.all([ask('c'), ask('d')])).toEqual(['a', 'a']);
    expect(log).toEqual(['a performs']);
  });

  test('gives an outcome of null again too', async () => {
    const { log, ask } = startWork();
    const outcomes = [await ask('a', { perform: async () => null }), await ask('b')];
    expect([outcomes, log]).toEqual([[null, null], []]);
  });

  test.each([null, undefined])('of %s is none', async (key) => {
    const { log, ask } = startWork();
    expect([await ask('a', {}, { key }), await ask('b', {}, { key })]).toEqual(['a', 'b']);
    expect(log).toEqual(['a performs', 'b performs']);
  });

  test.each<[string, Partial<Work<unknown, string>>, Partial<IdempotencyKey>]>([
    ['another bearer', {}, { tenant: { id: 'other', writes: 0 } }],
    ['another operation', { operation: 'other' }, {}],
    ['another key', {}, { key: 'other' }],
    // Were they put together with a separator, these would be the same.
    ['parts that are the same in a row', { operation: 'write","k' }, { key: '' }],
  ])('is another with %s', async (_what, part, otherwise) => {
    const { log, ask } = startWork();
    await ask('a');
    expect(await ask('b', part, otherwise)).toBe('b');
    expect(log).toEqual(['a performs', 'b performs']);
  });

  test('is a conflict with another input: during the work, after it, and after no known end', async () => {
    const { log, ask } = startWork();
    const other = { input: { a: 2 } };
    const { promise: end, resolve } = Promise.withResolvers();
    const first = ask('a', { perform: () => end });
    await expect(ask('b', other)).rejects.toThrow(ConflictError);
    resolve('done');
    expect(await first).toBe('done');
    await expect(ask('c', other)).rejects.toThrow(ConflictError);
    await expect(ask('d', { perform: failing(unknown) }, { key: 'd' })).rejects.toBe(unknown);
    await expect(ask('e', other, { key: 'd' })).rejects.toThrow(ConflictError);
    expect(log).toEqual([]);
  });
});

describe('after a failure', () => {
  test('of what was not done, the key is free, for another input too', async () => {
    const { log, ask } = startWork();
    await expect(ask('a', { perform: failing(unreachable) })).rejects.toBe(unreachable);
    expect(await ask('b', { input: { a: 2 } })).toBe('b');
    expect(log).toEqual(['b performs']);
  });

  test.each([unknown, broken])('of what may have been done, it is resumed: $name', async (error) => {
    const { log, ask } = startWork();
    await expect(ask('a', { perform: failing(error) })).rejects.toBe(error);
    expect([await ask('b'), await ask('c')]).toEqual(['b', 'b']);
    expect(log).toEqual(['b resumes from undefined']);
  });

  test('it is resumed from where it was', async () => {
    const { log, ask } = startWork();
    const stopped = ask('a', {
      perform: async (checkpoint) => {
        await checkpoint('step 1');
        await checkpoint('step 2');
        throw unknown;
      },
    });
    await expect(stopped).rejects.toBe(unknown);
    const again = ask('b', {
      resume: async (progress, checkpoint) => {
        log.push(`b resumes from ${progress}`);
        await checkpoint('step 3');
        throw unknown;
      },
    });
    await expect(again).rejects.toBe(unknown);
    expect(await ask('c')).toBe('c');
    expect(log).toEqual(['b resumes from step 2', 'c resumes from step 3']);
  });

  test.each([unknown, unreachable, aborted])(
    'of resuming, it is resumed again, whatever failed: $name',
    async (error) => {
      const { log, ask } = startWork();
      await expect(ask('a', { perform: failing(unknown) })).rejects.toBe(unknown);
      await expect(ask('b', { resume: failing(error) })).rejects.toBe(error);
      expect(await ask('c')).toBe('c');
      expect(log).toEqual(['c resumes from undefined']);
    },
  );
});

describe('those who wait for the same key', () => {
  test('get the failure of the one before them', async () => {
    const { log, ask } = startWork();
    const all = [ask('a', { perform: failing(unreachable) }), ask('b'), ask('c')];
    const outcomes = await Promise.allSettled(all);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: unreachable })));
    expect(log).toEqual([]);
  });

  test('do it themselves, once, where the one before them has left', async () => {
    const { log, ask } = startWork();
    const [first, ...others] = await Promise.allSettled([
      ask('a', { perform: failing(aborted) }),
      ask('b'),
      ask('c'),
    ]);
    expect(first).toEqual({ status: 'rejected', reason: aborted });
    expect(others).toEqual(others.map(() => ({ status: 'fulfilled', value: 'b' })));
    expect(log).toEqual(['b performs']);
  });

  test('resume it where the one before them has left while it did', async () => {
    const { log, ask } = startWork();
    await expect(ask('a', { perform: failing(unknown) })).rejects.toBe(unknown);
    const outcomes = await Promise.allSettled([
      ask('b', { resume: failing(aborted) }),
      ask('c', { resume: failing(aborted) }),
      ask('d'),
      ask('e'),
    ]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: aborted },
      { status: 'rejected', reason: aborted },
      { status: 'fulfilled', value: 'd' },
      { status: 'fulfilled', value: 'd' },
    ]);
    expect(log).toEqual(['d resumes from undefined']);
  });
});

test('a store learns neither token, key nor input', async () => {
  const seen: unknown[] = [];
  const memoryStore = createMemoryStore({ maxKeys: 20_000 });
  const store: IdempotencyStore = {
    claim: (...given) => {
      seen.push(given);
      return memoryStore.claim(...given);
    },
    replace: async (...given) => {
      seen.push(given);
    },
    release: async () => {},
  };
  const work = {
    operation: 'write',
    input: { note: 'an input' },
    perform: async () => 'done',
    resume: async () => 'done',
  };
  await createIdempotency({ store, secret, report: raise }).runOnce(work, {
    tenant: { id: 'a tenant', writes: 0 },
    key: 'a key',
  });
  const key = expect.stringMatching(/^a tenant\.[\w-]{43}$/);
  const fingerprint = expect.stringMatching(/^[\w-]{43}$/);
  expect(seen).toEqual([
    [key, { fingerprint }],
    [key, { fingerprint, outcome: 'done' }],
  ]);
});

test('servers with the same secret and store know the same keys, and with another secret none', async () => {
  const store = createMemoryStore({ maxKeys: 20_000 });
  const ask = (secret: Buffer, outcome: string) =>
    createIdempotency({ store, secret, report: raise }).runOnce(
      { operation: 'write', input: 1, perform: async () => outcome, resume: async () => outcome },
      keyed,
    );
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  expect([await ask(one, 'a'), await ask(one, 'b'), await ask(other, 'c')]).toEqual(['a', 'a', 'c']);
});

describe('a store that fails', () => {
  const refusal = new StatusError({ method: 'POST', path: '/v1/orders' }, 400, { fields: [] });

  /** A store of which one method fails, and work that ends like this. */
  async function ask(method: keyof IdempotencyStore, perform: () => Promise<string>) {
    const reported: unknown[] = [];
    const failure = new Error('the store is down');
    const store = { ...createMemoryStore({ maxKeys: 20_000 }), [method]: () => Promise.reject(failure) };
    const { runOnce } = createIdempotency({ store, report: (error) => reported.push(error), secret });
    const outcome = await runOnce({ operation: 'write', input: 1, perform, resume: perform }, keyed).catch(
      (error: unknown) => error,
    );
    return { outcome, isReported: reported.includes(failure), failure };
  }

  test('after the work loses nothing of what it came to', async () => {
    expect(await ask('replace', async () => 'done')).toMatchObject({ outcome: 'done', isReported: true });
    const refused = await ask('release', () => Promise.reject(refusal));
    expect(refused).toMatchObject({ outcome: refusal, isReported: true });
  });

  test('before the work keeps it from being done', async () => {
    let isDone = false;
    const { outcome, failure } = await ask('claim', async () => {
      isDone = true;
      return 'done';
    });
    expect([outcome, isDone]).toEqual([failure, false]);
  });
});

import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  OperationDeadlineError,
  OutcomeUnknownError,
  StatusError,
  UnavailableError,
} from '../../src/rest/errors.ts';
import { ConflictError, NotFoundError } from '../../src/writes/errors.ts';
import { KeysFullError } from '../../src/writes/idempotency.ts';
import { ClaimLostError, type KeyStore, StoreUnavailableError } from '../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../src/writes/store/sqlite-store.ts';
import { startWork, type WorkRequest } from '../fixtures/keyed-work.ts';
import { memoryStore } from '../fixtures/memory-store.ts';
import { errorOf } from '../fixtures/rest-service.ts';

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};
const unknown = new OutcomeUnknownError('no answer');
const aborted = new AbortedError('the client has left');
const broken = new TypeError('a bug');
const unreachable = new UnavailableError('no address');

describe('an idempotency key', () => {
  test('returns the stored result to a later request', async () => {
    const { log, ask } = startWork();
    expect([await ask('a'), await ask('b')]).toEqual(['a', 'a']);
    expect(log).toEqual(['a runs', 'b restores']);
  });

  test('returns one result to concurrent requests with the same token', async () => {
    const { log, ask } = startWork();
    expect(await Promise.all([ask('a'), ask('b'), ask('c')])).toEqual(['a', 'a', 'a']);
    expect(log).toEqual(['a runs']);
  });

  test('makes requests of another token wait for the stored result', async () => {
    const { log, ask } = startWork();
    const token = 'next token';
    expect(await Promise.all([ask('a'), ask('b', { token }), ask('c', { token })])).toEqual(['a', 'a', 'a']);
    expect(log).toEqual(['a runs', 'b restores']);
  });

  test('returns a stored result of null', async () => {
    const { log, ask } = startWork();
    expect([await ask('a', { run: async () => null }), await ask('b')]).toEqual([null, null]);
    expect(log).toEqual(['b restores']);
  });

  test('returns the stored result even if an earlier read of the result failed', async () => {
    const { log, ask } = startWork();
    await ask('a');
    await expect(ask('b', { restore: failing(unreachable) })).rejects.toBe(unreachable);
    expect(await ask('c')).toBe('a');
    expect(log).toEqual(['a runs', 'c restores']);
  });

  test.each([null])('has no effect if it is %s', async (key) => {
    const merchantOf = failing(new Error('expected no key'));
    const { log, ask } = startWork({ merchantOf });
    expect([await ask('a', { key }), await ask('b', { key })]).toEqual(['a', 'b']);
    expect(log).toEqual(['a runs', 'b runs']);
  });

  test.each<[string, WorkRequest]>([
    ['the key of another merchant', { token: 'other token' }],
    ['the key of another operation', { operation: 'other' }],
    ['another key', { key: 'other' }],
    // With a separator between the parts, these would be the same.
    ['a key whose parts concatenate to the same string', { operation: 'write","k', key: '' }],
  ])('is separate from %s', async (_what, request) => {
    const { log, ask } = startWork();
    await ask('a');
    expect(await ask('b', request)).toBe('b');
    expect(log).toEqual(['a runs', 'b runs']);
  });

  test.each([
    ['the same token', 'token'],
    ['another token', 'next token'],
  ])('rejects a different input in a request with %s', async (_what, token) => {
    const { log, ask } = startWork();
    const other = { input: { a: 2 }, token };
    const { promise: end, resolve } = Promise.withResolvers();
    const first = ask('a', { run: () => end });
    await expect(ask('b', other)).rejects.toThrow(ConflictError);
    resolve('done');
    expect(await first).toBe('done');
    await expect(ask('c', other)).rejects.toThrow(ConflictError);
    await expect(ask('d', { key: 'd', run: failing(unknown) })).rejects.toBe(unknown);
    await expect(ask('e', { ...other, key: 'd' })).rejects.toThrow(ConflictError);
    expect(log).toEqual([]);
  });

  test('is rejected if it is new and the merchant has reached the limit of keys', async () => {
    const store = await openSqliteStore({ file: 'memory', maxKeysPerMerchant: 1 });
    const { log, ask } = startWork({ store });
    await ask('a');
    await expect(ask('b', { key: 'new' })).rejects.toThrow(KeysFullError);
    expect(await ask('c')).toBe('a');
    expect(log).toEqual(['a runs', 'c restores']);
    await store.close();
  });
});

describe('a key after a failure', () => {
  test('can be used with any input if the write changed nothing', async () => {
    const { log, ask } = startWork();
    await expect(ask('a', { run: failing(unreachable) })).rejects.toBe(unreachable);
    expect(await ask('b', { input: { a: 2 } })).toBe('b');
    expect(log).toEqual(['b runs']);
  });

  test.each([unknown, broken])('resumes the write if the outcome is unknown: $name', async (error) => {
    const { log, ask } = startWork();
    await expect(ask('a', { run: failing(error) })).rejects.toBe(error);
    expect([await ask('b'), await ask('c')]).toEqual(['b', 'b']);
    expect(log).toEqual(['b resumes from undefined', 'c restores']);
  });

  test('resumes the write from the last checkpoint', async () => {
    const { log, ask } = startWork();
    const stopped = ask('a', {
      run: async ({ checkpoint }) => {
        await checkpoint('step 1');
        await checkpoint('step 2');
        throw unknown;
      },
    });
    await expect(stopped).rejects.toBe(unknown);
    const again = ask('b', {
      resume: async (progress, { checkpoint }) => {
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
    'resumes the write again if resuming failed: $name',
    async (error) => {
      const { log, ask } = startWork();
      await expect(ask('a', { run: failing(unknown) })).rejects.toBe(unknown);
      await expect(ask('b', { resume: failing(error) })).rejects.toBe(error);
      expect(await ask('c')).toBe('c');
      expect(log).toEqual(['c resumes from undefined']);
    },
  );
});

describe('requests that wait for a key', () => {
  test('share the failure of the write if they have the same token', async () => {
    const { log, ask } = startWork();
    const all = [ask('a', { run: failing(unreachable) }), ask('b'), ask('c')];
    const outcomes = await Promise.allSettled(all);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: unreachable })));
    expect(log).toEqual([]);
  });

  test('run the write themselves if the write of another token failed without effect', async () => {
    const { log, ask } = startWork();
    const first = ask('a', { run: failing(unreachable) });
    const second = ask('b', { token: 'next token' });
    await expect(first).rejects.toBe(unreachable);
    expect(await second).toBe('b');
    expect(log).toEqual(['b runs']);
  });

  test('run the write only once after the operation that started the write was aborted', async () => {
    const { log, ask } = startWork();
    const [first, ...others] = await Promise.allSettled([
      ask('a', { run: failing(aborted) }),
      ask('b'),
      ask('c'),
    ]);
    expect(first).toEqual({ status: 'rejected', reason: aborted });
    expect(others).toEqual(others.map(() => ({ status: 'fulfilled', value: 'b' })));
    expect(log).toEqual(['b runs']);
  });

  test('together resume the write once, even if earlier attempts to resume were aborted', async () => {
    const { log, ask } = startWork();
    await expect(ask('a', { run: failing(unknown) })).rejects.toBe(unknown);
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

  test.each([
    [
      'the deadline passes while they wait',
      new OperationDeadlineError('shipOrder', 30),
      OperationDeadlineError,
      10,
    ],
    ['the client disconnects while they wait', new Error('the client has left'), AbortedError, 10],
    ['the client disconnects before they wait', new Error('the client has left'), AbortedError, 0],
  ])('end immediately if %s', async (_what, reason, type, waitMs) => {
    const { log, ask } = startWork();
    const { promise: end, resolve } = Promise.withResolvers();
    const first = ask('a', { run: () => end });
    const controller = new AbortController();
    const waiting = ask('b', { token: 'next token', signal: controller.signal });
    const last = ask('c', { token: 'third token' });
    if (waitMs > 0) await new Promise((continued) => setTimeout(continued, waitMs));
    controller.abort(reason);
    expect(await errorOf(waiting)).toBeInstanceOf(type);
    resolve('done');
    expect(await Promise.all([first, last])).toEqual(['done', 'done']);
    expect(log).toEqual(['c restores']);
  });
});

describe('two processes with one store', () => {
  const merchant = 'merchant of two processes';
  let keys = 0;
  const newKey = () => {
    keys += 1;
    return `key ${keys}`;
  };
  const startTwo = () => [startWork({ merchant }), startWork({ merchant })] as const;

  test('see the same idempotency keys', async () => {
    const [one, other] = startTwo();
    const key = newKey();
    expect([await one.ask('a', { key }), await other.ask('b', { key })]).toEqual(['a', 'a']);
    expect(other.log).toEqual(['b restores']);
    await expect(other.ask('c', { key, input: {} })).rejects.toThrow(ConflictError);
  });

  test('run a write once for concurrent requests', async () => {
    const [one, other] = startTwo();
    const key = newKey();
    const { promise: end, resolve } = Promise.withResolvers();
    const first = one.ask('a', { key, run: () => end });
    const second = other.ask('b', { key });
    await expect(other.ask('c', { key, input: {} })).rejects.toThrow(ConflictError);
    resolve('done');
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
    expect(other.log).toEqual(['b restores']);
  });

  test.each([
    ['a conflict', new ConflictError('shipped already', { reason: 'ALREADY_SHIPPED' })],
    ['a missing record', new NotFoundError('orders/1', 'order')],
    ['a refusal of REST', new StatusError({ method: 'POST', path: '/v1/orders' }, 409, { fields: [] })],
  ])('do not answer with %s after another process took the key', async (_what, refusal) => {
    let isHeld = true;
    const one = startWork({ merchant, store: { ...memoryStore, holds: () => isHeld } });
    const key = newKey();
    const run = async () => {
      isHeld = false;
      throw refusal;
    };
    await expect(one.ask('a', { key, run })).rejects.toThrow(ClaimLostError);
    isHeld = true;
    await expect(one.ask('a', { key, run: failing(refusal) })).rejects.toBe(refusal);
  });

  test.each([
    ['the end of the request', aborted],
    ['a failure of the store', new StoreUnavailableError('the disk is full')],
    ['an unknown outcome', unknown],
  ])('answer with %s also after another process took the key', async (_what, error) => {
    const one = startWork({ merchant, store: { ...memoryStore, holds: () => false } });
    await expect(one.ask('a', { key: newKey(), run: failing(error) })).rejects.toBe(error);
  });

  test('stop waiting for each other at the deadline of the operation', async () => {
    const [one, other] = startTwo();
    const key = newKey();
    const { promise: end, resolve } = Promise.withResolvers();
    const first = one.ask('a', { key, run: () => end });
    const controller = new AbortController();
    const second = other.ask('b', { key, signal: controller.signal });
    setTimeout(() => controller.abort(new OperationDeadlineError('shipOrder', 50)), 50);
    expect(await errorOf(second)).toBeInstanceOf(OperationDeadlineError);
    resolve('done');
    expect(await first).toBe('done');
    expect(other.log).toEqual([]);
  });

  test('hold a lock one after the other, and pass on its note', async () => {
    const [one, other] = startTwo();
    const { promise: end, resolve } = Promise.withResolvers();
    const first = one.withLock(async (lock) => {
      await lock.checkpoint('posted');
      await end;
      await lock.checkpoint('shipped');
    });
    let isWaiting = true;
    const second = other.withLock(async ({ note }) => {
      isWaiting = false;
      return note;
    });
    await new Promise((continued) => setTimeout(continued, 60));
    expect(isWaiting).toBe(true);
    resolve('done');
    await first;
    expect(await second).toBe('shipped');
  });
});

test('the key store never gets a key or an input in plain text', async () => {
  const seen: unknown[] = [];
  const store: KeyStore = {
    ...memoryStore,
    claim(...given) {
      seen.push(...given);
      return memoryStore.claim(...given);
    },
    finish(claim, outcome) {
      seen.push(outcome);
      return memoryStore.finish(claim, outcome);
    },
  };
  const { ask } = startWork({ store, merchant: 'a merchant' });
  await ask('a result', { key: 'a key', input: { note: 'an input' } });
  const digest = expect.stringMatching(/^[\w-]{43}$/);
  expect(seen).toEqual([{ merchant: 'a merchant', id: digest }, digest, { result: 'a result' }]);
});

describe('an error of the key store', () => {
  const failure = new StoreUnavailableError('the disk is full');
  const failingStore = (method: keyof KeyStore, error: Error = failure): KeyStore => ({
    ...memoryStore,
    [method]: failing(error),
  });
  const refusal = new StatusError({ method: 'POST', path: '/v1/orders' }, 400, { fields: [] });

  test('prevents the write if the claim fails', async () => {
    const { log, ask } = startWork({ store: failingStore('claim') });
    await expect(ask('a')).rejects.toBe(failure);
    expect(log).toEqual([]);
  });

  test('frees the key if a checkpoint fails', async () => {
    const store = failingStore('checkpoint');
    const { log, ask } = startWork({ store });
    const stopped = ask('a', {
      run: async ({ checkpoint }) => {
        await checkpoint('about to send');
        log.push('a sends');
      },
    });
    await expect(stopped).rejects.toBe(failure);
    expect(await ask('b')).toBe('b');
    expect(log).toEqual(['b runs']);
  });

  test.each<[keyof KeyStore, () => Promise<string>, unknown]>([
    ['finish', async () => 'done', 'done'],
    ['release', failing(refusal), refusal],
    ['abandon', failing(unknown), unknown],
  ])('does not change the result of the write if %s fails', async (method, run, expected) => {
    const { ask, reported } = startWork({ store: failingStore(method) });
    expect(await ask('a', { run }).catch((error: unknown) => error)).toBe(expected);
    expect(reported).toEqual([failure]);
  });

  test('is not reported if another process took over the claim', async () => {
    const { ask, reported } = startWork({ store: failingStore('finish', new ClaimLostError()) });
    expect(await ask('a')).toBe('a');
    expect(reported).toEqual([]);
  });
});

test('a key stays free if the merchant cannot be determined', async () => {
  let error: Error | undefined = unreachable;
  const merchantOf = async () => {
    if (error !== undefined) throw error;
    return 'merchant found later';
  };
  const { log, ask } = startWork({ merchantOf });
  await expect(ask('a')).rejects.toBe(unreachable);
  error = undefined;
  expect(await ask('b')).toBe('b');
  expect(log).toEqual(['b runs']);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { neverAborted } from '../../src/concurrency/cancellation.ts';
import { type Deadline, noDeadline } from '../../src/concurrency/operation-scope.ts';
import { ScanBudgetExceededError } from '../../src/rest/client/scan-budget.ts';
import { ReadBudgetExceededError } from '../../src/rest/errors.ts';
import { EarlierAttemptUnknownError, UnsettledError } from '../../src/writes/errors.ts';
import {
  type LossTime,
  type LostWrite,
  lossNow,
  lossOf,
  searchUntilSettled,
} from '../../src/writes/search-until-settled.ts';
import { createCallContexts } from '../fixtures/call-contexts.ts';
import { errorOf } from '../fixtures/rest-service.ts';

const hourMs = 3_600_000;

describe('the time of a loss', () => {
  /** The loss time of a stored write, and whether it was stored anew. */
  async function lossTimeOf(write: LostWrite) {
    const stored: LostWrite[] = [];
    const lost = await lossOf(write, async (changed) => void stored.push(changed));
    return { lost, stored };
  }

  test('is the stored time if no clock was put back and the machine did not restart', async () => {
    const lost = lossNow();
    expect(await lossTimeOf({ lost })).toEqual({ lost, stored: [] });
  });

  test.each<[string, (now: LossTime) => LostWrite]>([
    ['from a process that died during the write', () => ({})],
    ['from an earlier boot', (now) => ({ lost: { ...now, monotonicMs: now.monotonicMs + hourMs } })],
    ['from before the wall clock was put back', (now) => ({ lost: { ...now, wallMs: now.wallMs + hourMs } })],
  ])('is the time of the first look if the note is %s', async (_whose, write) => {
    const before = lossNow();
    const { lost, stored } = await lossTimeOf(write(before));
    expect(lost.monotonicMs - before.monotonicMs).toBeGreaterThanOrEqual(0);
    expect(lost.monotonicMs - before.monotonicMs).toBeLessThan(hourMs);
    expect(lost.wallMs - before.wallMs).toBeLessThan(hourMs);
    expect(stored).toEqual([{ lost }]);
  });
});

describe('a noted loss', () => {
  /** A loss of an hour ago, by both clocks of a machine. Each has a time of its own. */
  let hours = 1;
  const lossOn = (machine: string | undefined): LossTime => {
    hours += 1;
    const { machine: _, ...times } = lossNow(hours * hourMs);
    return machine === undefined ? times : { ...times, machine };
  };
  const waitsFor = async (lost: LossTime, remainingMs: number) => {
    const deadline: Deadline = { deadlineSignal: neverAborted, remainingMs: () => remainingMs };
    const context = createCallContexts({}).of('token', neverAborted, deadline);
    const search = () =>
      searchUntilSettled(
        lost,
        async () => 'none',
        () => false,
        hourMs,
        context,
      );
    return search().then(
      () => 0,
      (error: UnsettledError) => error.retryAfterMs,
    );
  };

  test('needs no wait if this machine noted the loss', async () => {
    const { machine } = lossNow();
    expect(await waitsFor(lossOn(machine), 1)).toBe(0);
  });

  test.each([['another machine'], [undefined]])(
    'starts its wait at the first look if the noting machine is %s',
    async (machine) => {
      const lost = lossOn(machine);
      const first = await waitsFor(lost, 1);
      expect(first).toBeGreaterThan(hourMs - 10_000);
      await sleep(50);
      // The second look does not begin anew.
      expect(await waitsFor(lost, 1)).toBeLessThanOrEqual(first - 50);
    },
  );

  test('keeps the noted time', async () => {
    const lost = lossOn('another machine');
    const stored: LostWrite[] = [];
    expect(await lossOf({ lost }, async (changed) => void stored.push(changed))).toEqual(lost);
    expect(stored).toEqual([]);
  });
});

describe('a search for a lost write', () => {
  /** Searches that find nothing at first, and `found` later. */
  function startSearch(lost: LossTime, processingMs: number, remainingMs = Number.POSITIVE_INFINITY) {
    const deadline: Deadline = { deadlineSignal: neverAborted, remainingMs: () => remainingMs };
    const context = createCallContexts({}).of('token', neverAborted, deadline);
    const results = ['none', 'found'];
    const left = () => results.length;
    const search = async () => results.shift() ?? 'again';
    return {
      left,
      result: searchUntilSettled(lost, search, (found) => found === 'found', processingMs, context),
    };
  }

  // Long enough that a busy machine does not start the search later.
  const processingMs = 2_000;

  test.concurrent('is repeated after the time that REST may take', async () => {
    const startMs = performance.now();
    expect(await startSearch(lossNow(), processingMs).result).toBe('found');
    // A timer may end a millisecond early.
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(processingMs - 2);
  });

  test.concurrent.each<[string, (now: LossTime) => LossTime]>([
    ['the wall clock jumps', (now) => ({ ...now, wallMs: now.wallMs - hourMs })],
    [
      'another machine has a later monotonic clock',
      (now) => ({ ...now, monotonicMs: now.monotonicMs - hourMs }),
    ],
  ])('is repeated although %s', async (_what, change) => {
    expect(await startSearch(change(lossNow()), processingMs).result).toBe('found');
  });

  test('is final at once if the time that REST may take is over', async () => {
    const lost = lossNow();
    await sleep(60);
    const { result, left } = startSearch(lost, 50);
    expect(await result).toBe('none');
    expect(left()).toBe(1);
  });

  test('is final after the time that REST may take, if the loss is in the future of the wall clock', async () => {
    const lost = { ...lossNow(), wallMs: Date.now() + hourMs };
    const first = await errorOf(startSearch(lost, 50, 0).result);
    expect(first).toBeInstanceOf(UnsettledError);
    await sleep(60);
    const { result, left } = startSearch(lost, 50, 0);
    expect(await result).toBe('none');
    expect(left()).toBe(1);
  });

  test('is not repeated beyond the deadline', async () => {
    const { result, left } = startSearch(lossNow(), 10_000, 5_000);
    const error = await errorOf(result);
    expect(error).toBeInstanceOf(UnsettledError);
    expect(left()).toBe(1);
  });

  const noRead = new ReadBudgetExceededError({ method: 'GET', path: '/v1/shipments' }, 250);
  const noPage = new ScanBudgetExceededError();
  test.concurrent.each<[string, Error, Error]>([
    ['read', noRead, noRead],
    ['page', new EarlierAttemptUnknownError('No response', { cause: noPage }), noPage],
  ])('without a %s for its repetition can be done by a new operation', async (_what, thrown, cause) => {
    const context = createCallContexts({}).of('token', neverAborted, noDeadline);
    const results = [async () => 'none', () => Promise.reject(thrown)];
    const search = async () => results.shift()?.() ?? 'again';
    const error = await errorOf(searchUntilSettled(lossNow(), search, () => false, processingMs, context));
    expect(error).toBeInstanceOf(UnsettledError);
    expect(error).toMatchObject({ retryAfterMs: 1_000, cause });
    expect(results).toEqual([]);
  });
});

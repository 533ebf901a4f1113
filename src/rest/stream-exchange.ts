import type { Pool } from 'undici';
import { textOf } from './answer-body.ts';
import { Attempt } from './attempt.ts';
import { CallClock } from './call-clock.ts';
import { maxErrorBodyBytes, statusErrorOf } from './error-body.ts';
import { createRequests, type Exchange, type ExchangeOptions, told } from './exchange.ts';
import { failureOf } from './failure.ts';
import { openStream } from './incoming-body.ts';
import { type RestStream, streamedAnswer } from './streamed-answer.ts';
import { isSuccess } from './whole-answer.ts';

/** Tries of reads whose answers are handed on as they arrive, for which they have `streamTimeoutMs` from their first byte. */
export function createStreamExchange(
  pool: Pool,
  options: ExchangeOptions,
  streamTimeoutMs: number,
): Exchange<RestStream> {
  const { maxResponseBytes } = options;
  const toFirstByte = new CallClock(options.callTimeoutMs);
  const toLastByte = new CallClock(streamTimeoutMs);
  const requestOf = createRequests(options);

  return told(async (call, caller, signal, entry, headers) => {
    const attempt = new Attempt(call, signal, toFirstByte);
    try {
      const request = requestOf(call, caller.bearer, headers);
      const response = await openStream(pool, request, { attempt, maxBytes: maxResponseBytes, call });
      const { status, headers: answered, body } = response;
      entry.status = status;
      try {
        if (!isSuccess(status)) {
          // Cut off, late or too large: its status has been answered all the same.
          const text = await textOf(call, response, maxErrorBodyBytes, entry).catch(() => undefined);
          throw statusErrorOf(call, { status, retryAfter: answered['retry-after'], text }, caller.bearer);
        }
        const answer = await streamedAnswer(call, response, maxResponseBytes);
        attempt.extend(toLastByte);
        answer.body.once('close', () => attempt.end());
        return answer;
      } catch (error) {
        // Whatever it was: a body that nobody reads to its end would keep its connection for good.
        body.destroy();
        throw error;
      }
    } catch (error) {
      attempt.end();
      throw failureOf(call, error, true);
    }
  });
}

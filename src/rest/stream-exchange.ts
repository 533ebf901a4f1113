import type { Pool } from 'undici';
import { Attempt } from './attempt.ts';
import { CallClock } from './call-clock.ts';
import { statusErrorOf } from './error-body.ts';
import { createRequests, type Exchange, type ExchangeOptions, told } from './exchange.ts';
import { failureOf } from './failure.ts';
import { receive } from './response.ts';
import type { StreamedResponse } from './streamed-response.ts';

/** Tries of reads whose responses are streamed. From its first byte on, one may take `streamTimeoutMs` milliseconds. */
export function createStreamExchange(
  pool: Pool,
  options: ExchangeOptions,
  streamTimeoutMs: number,
): Exchange<StreamedResponse> {
  const { maxResponseBytes: maxBytes } = options;
  const toFirstByte = new CallClock(options.callTimeoutMs);
  const toLastByte = new CallClock(streamTimeoutMs);
  const requestOf = createRequests(options);

  return told(async (call, { bearer }, signal, entry, headers) => {
    const attempt = new Attempt(call, signal, toFirstByte);
    try {
      const request = requestOf(call, bearer, headers);
      return await new Promise<StreamedResponse>((resolve, failed) => {
        receive(pool, request, {
          attempt,
          entry,
          maxBytes,
          streamed(response) {
            attempt.extend(toLastByte);
            // Now, as a body that fails closes before a promise is told.
            response.body.once('close', () => attempt.end());
            resolve(response);
          },
          received: (refused) => failed(statusErrorOf(call, refused, bearer)),
          failed,
        });
      });
    } catch (error) {
      attempt.end();
      throw failureOf(call, error, true);
    }
  });
}

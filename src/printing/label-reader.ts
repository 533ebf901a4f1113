import { type Cancellation, untilAborted } from '../concurrency/cancellation.ts';
import { type Semaphore, SimpleRequest } from '../concurrency/semaphore.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import type { StreamedResponse } from '../rest/client/http-exchange.ts';
import {
  AbortedError,
  DeadlineError,
  isNotFound,
  isUnauthenticated,
  isUnreadable,
  ResponseTooLargeError,
  UnavailableError,
  WaybillError,
} from '../rest/errors.ts';
import { DocumentsBusyError } from './errors.ts';

const mib = 1_048_576;
const maxLabelBytes = 5 * mib;
const maxLabelsBytes = 32 * mib;
/** With more labels at once, calls of others wait at REST behind them. 100 labels of half a second still take only 6 s. */
const labelsAtOnce = 8;

/** The PDF of a label, or why there is none. An `error` says nothing about the label. */
export type LabelFile =
  | { bytes: Uint8Array }
  | { outcome: 'NOT_READY' | 'UNREADABLE'; message: string }
  | { error: unknown };

export interface LabelSource {
  api: RestApi;
  /** The slots that label requests have, too. */
  slots: Semaphore;
}

/**
 * Reads the labels of shipments by `GET /v1/shipments/{id}/label` ("Endpoints"), each in a slot, and a few at once.
 * @param halfTime ends the reads. Labels that are not there then have an `error`.
 * @throws StatusError if REST rejects the access token.
 */
export async function readLabels(
  names: readonly string[],
  { api, slots }: LabelSource,
  callContext: CallContext,
  halfTime: Cancellation,
): Promise<LabelFile[]> {
  // Its rejection aborts the calls of all labels.
  const reading = Promise.withResolvers<never>();
  reading.promise.catch(() => {});
  const onHalfTime = () => reading.reject(new DeadlineError('The labels were not read in time'));
  halfTime.addEventListener('abort', onHalfTime);
  if (halfTime.aborted) onHalfTime();
  const context = callContext.whileSucceeding(reading.promise);
  let bytesLeft = maxLabelsBytes;
  /** The labels whose bytes are arriving. */
  let arriving = 0;
  /** Resolved, and made anew, when bytes are given back. */
  let change = Promise.withResolvers<void>();
  let rejection: unknown;

  /** Reserves bytes, or what is left. Waits while labels that are being read may still give bytes back. */
  async function reserve(bytes: number): Promise<number> {
    while (bytesLeft < bytes && arriving > 0) await change.promise;
    const reserved = Math.min(bytes, bytesLeft);
    bytesLeft -= reserved;
    arriving += 1;
    return reserved;
  }

  function giveBack(bytes: number): void {
    bytesLeft += bytes;
    arriving -= 1;
    change.resolve();
    change = Promise.withResolvers();
  }

  /** Reads a body to its end. @throws LabelTooLargeError and LabelsTooLargeError, and the error of the body */
  async function collect({
    body,
    contentLength = `${maxLabelBytes}`,
  }: StreamedResponse): Promise<Uint8Array> {
    if (Number(contentLength) > maxLabelBytes) {
      body.destroy();
      throw new LabelTooLargeError();
    }
    const reserved = await reserve(Number(contentLength));
    let kept = 0;
    try {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body) {
        size += chunk.length;
        if (size > reserved)
          throw size > maxLabelBytes ? new LabelTooLargeError() : new LabelsTooLargeError();
        chunks.push(chunk);
      }
      kept = size;
      return Buffer.concat(chunks);
    } finally {
      giveBack(reserved - kept);
    }
  }

  async function read(name: string): Promise<LabelFile> {
    try {
      const slot = await takeSlot(slots, context);
      try {
        return { bytes: await collect(await api.getLabel(name, context)) };
      } finally {
        slots.release(slot);
      }
    } catch (error) {
      // The other labels of a rejected token would be rejected, too.
      if (isUnauthenticated(error)) {
        rejection = error;
        reading.reject(error);
      }
      return toLabelFile(error, halfTime);
    }
  }

  const files: LabelFile[] = [];
  // All readers take their labels from this one iterator.
  const left = names.entries();
  async function readNext(): Promise<void> {
    for (const [index, name] of left) files[index] = await read(name);
  }
  await Promise.all(Array.from({ length: labelsAtOnce }, readNext));
  halfTime.removeEventListener('abort', onHalfTime);
  if (rejection !== undefined) throw rejection;
  return files;
}

/** The label of one shipment has more bytes than a label may have. */
class LabelTooLargeError extends ResponseTooLargeError {}

class LabelsTooLargeError extends ResponseTooLargeError {
  constructor() {
    super(
      `The labels have more than ${maxLabelsBytes / mib} MiB together. Put this shipment into another document`,
    );
  }
}

function toLabelFile(error: unknown, halfTime: Cancellation): LabelFile {
  if (isNotFound(error))
    return { outcome: 'NOT_READY', message: 'The REST service does not have the label of this shipment.' };
  if (error instanceof LabelsTooLargeError) return { error };
  if (error instanceof ResponseTooLargeError)
    return { outcome: 'UNREADABLE', message: `The label has more than ${maxLabelBytes / mib} MiB.` };
  if (isUnreadable(error))
    return {
      outcome: 'UNREADABLE',
      message: 'The label that the REST service sent for this shipment is not a PDF.',
    };
  if (error instanceof AbortedError && halfTime.aborted)
    return {
      error: new DeadlineError('The label was not read within half of the time limit of the operation'),
    };
  // A body that breaks off has the error of its connection.
  const isKnown = error instanceof WaybillError;
  return {
    error: isKnown
      ? error
      : new UnavailableError('The connection broke before the end of the label', { cause: error }),
  };
}

/** @throws DocumentsBusyError, and AbortedError if the calls of the context are aborted first */
async function takeSlot(slots: Semaphore, { owner, signal }: CallContext): Promise<SimpleRequest> {
  const granted = Promise.withResolvers<void>();
  const request = new SimpleRequest(owner, 1, granted.resolve);
  const outcome = slots.acquire(request);
  if (typeof outcome === 'object') throw new DocumentsBusyError('Too many label requests are waiting.');
  if (outcome === 'waiting') await untilAborted(granted.promise, signal);
  if (request.slot === 'granted') return request;
  slots.release(request);
  throw new AbortedError('The label was not read, because the operation ended');
}

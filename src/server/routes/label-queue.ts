import type { ServerResponse } from 'node:http';
import type { Owner } from '../../concurrency/owner.ts';
import { Semaphore, SimpleRequest } from '../../concurrency/semaphore.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { type HttpError, overloaded, rejection } from '../http/http-error.ts';

/** Label requests of a process at the same time. Each has a REST connection of its own. One token has half. */
export const defaultLabelRequestsAtOnce = 32;

// A request that waits keeps a connection and a few KiB.
const maxWaiting = 1_000;

export type EnterLabelQueue = ReturnType<typeof createLabelQueue>;

/** The slots of labels. When none is free, requests wait, and owners get free slots in turn. */
export function createLabelSlots(requestsAtOnce = defaultLabelRequestsAtOnce): Semaphore {
  return new Semaphore({ total: requestsAtOnce, perToken: Math.ceil(requestsAtOnce / 2), maxWaiting });
}

/**
 * The queue of requests for slots of labels.
 * @param waitMs the longest wait for a slot, in milliseconds
 * @param downloadMs how long a response may keep its slot. Each byte that a client reads restarts the timeout of its
 * connection, so a download needs a limit as a whole.
 */
export function createLabelQueue(slots: Semaphore, waitMs = 10_000, downloadMs = 300_000) {
  /**
   * Waits for a slot. The slot is released when the response closes. A client that leaves earlier stops waiting.
   * @returns undefined once the request has a slot, or else the error.
   */
  return async (owner: Owner, response: ServerResponse): Promise<HttpError | undefined> => {
    // A closed response emits no second `close`, and would keep its slot forever.
    if (response.closed) return undefined;
    const { promise, resolve } = Promise.withResolvers<HttpError | undefined>();
    const request = new SimpleRequest(owner, 1, () => resolve(undefined));
    const outcome = slots.acquire(request);
    if (typeof outcome === 'object') return tooMany(`${outcome.limit} label requests are already waiting.`);
    // Gives up the slot, or the place in the queue. A second call changes nothing. `error` reaches only a request that waits.
    const giveUp = (error: HttpError) => {
      slots.release(request);
      resolve(error);
    };
    let downloadTimer: NodeJS.Timeout | undefined;
    response.once('close', () => {
      clearTimeout(downloadTimer);
      giveUp(clientGone);
    });
    if (outcome === 'waiting') await withTimeout(waitMs, promise);
    if (request.slot === 'waiting')
      giveUp(tooMany(`The request for a label waited ${waitMs} ms in the queue.`));
    else if (!response.closed) downloadTimer = setTimeout(() => response.destroy(), downloadMs);
    return outcome === 'waiting' ? promise : undefined;
  };
}

const clientGone = rejection(
  499,
  'REQUEST_ABORTED',
  'The client closed the connection while the label request waited.',
);

function tooMany(reason: string): HttpError {
  return overloaded(`${reason} Try again soon.`);
}

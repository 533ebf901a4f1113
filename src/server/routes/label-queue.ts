import type { ServerResponse } from 'node:http';
import { FairQueue, UnitEntry } from '../../concurrency/fair-queue.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { type HttpError, overloaded, rejection } from '../http/http-error.ts';

/** Label requests of a process at the same time. Each has a REST connection of its own. One token has half. */
export const defaultLabelRequestsAtOnce = 32;

// A request that waits keeps a connection and a few KiB.
const maxWaiting = 1_000;

/** The slots of the label route. When no slot is free, requests wait, and owners get free slots in turn. */
export class LabelQueue {
  readonly #queue: FairQueue;
  readonly #waitMs: number;

  constructor(requestsAtOnce = defaultLabelRequestsAtOnce, waitMs = 10_000) {
    this.#waitMs = waitMs;
    const maxWeightPerToken = Math.ceil(requestsAtOnce / 2);
    this.#queue = new FairQueue({ capacity: requestsAtOnce, maxWeightPerToken, maxWaiting });
  }

  /**
   * Waits for a slot. The slot is released when the response closes. A client that leaves earlier stops waiting.
   * @param response undefined for a call through `fetch`, which needs no slot.
   * @returns undefined once the request has a slot, or else the error.
   */
  async enter(owner: Owner, response: ServerResponse | undefined): Promise<HttpError | undefined> {
    // A closed response emits no second `close`, and would keep its slot forever.
    if (response === undefined || response.closed) return undefined;
    const { promise, resolve } = Promise.withResolvers<HttpError | undefined>();
    const request = new UnitEntry(owner, () => resolve(undefined));
    const outcome = this.#queue.acquire(request);
    if (typeof outcome === 'object') return tooMany(`${outcome.limit} label requests are already waiting.`);
    // Once the request has its slot, the second call of `resolve` has no effect.
    const leave = (error: HttpError) => {
      this.#queue.leave(request);
      resolve(error);
    };
    response.once('close', () => leave(clientGone));
    if (outcome === 'granted') return undefined;
    const timedOut = tooMany(`The request for a label waited ${this.#waitMs} ms in the queue.`);
    const timer = setTimeout(() => {
      if (request.turn === 'waiting') leave(timedOut);
    }, this.#waitMs);
    return promise.finally(() => clearTimeout(timer));
  }
}

const clientGone = rejection(
  499,
  'REQUEST_ABORTED',
  'The client closed the connection while the label request waited.',
);

function tooMany(reason: string): HttpError {
  return overloaded(`${reason} Try again soon.`);
}

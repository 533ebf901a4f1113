import type { ServerResponse } from 'node:http';
import { FairQueue, type QueueEntry } from '../../concurrency/fair-queue.ts';
import { type HttpError, overloaded } from '../http/http-error.ts';

/** The limits of a `LabelQueue`. */
export interface LabelQueueOptions {
  /** The maximum number of label requests at the same time. One owner has half. By default 32. */
  requestsAtOnce?: number | undefined;
  /** How long a request waits for a slot, in milliseconds. By default 10 seconds. */
  waitMs?: number | undefined;
}

/** Each has a REST connection of its own. */
export const defaultLabelRequestsAtOnce = 32;

// One owner has half. A request that waits keeps a connection and a few KiB.
const maxWaiting = 1_000;

/** The slots of the label route. When no slot is free, requests wait, and owners get free slots in turn. */
export class LabelQueue {
  readonly #queue: FairQueue<string, LabelRequest>;
  readonly #waitMs: number;

  constructor({ requestsAtOnce = defaultLabelRequestsAtOnce, waitMs = 10_000 }: LabelQueueOptions) {
    this.#waitMs = waitMs;
    this.#queue = new FairQueue({
      capacity: requestsAtOnce,
      maxWeightOf: () => Math.ceil(requestsAtOnce / 2),
      maxWaiting,
      overloaded: (waiting) => new Error(`${waiting} requests for labels wait already.`),
    });
  }

  /**
   * Waits for a slot. The slot is released when the response closes. A client that leaves earlier stops waiting.
   * @param owner Requests of one owner have the limits and the turn of one.
   * @param response undefined for a call through `fetch`, which needs no slot.
   * @returns undefined once the request has a slot, or else the error.
   */
  async enter(owner: string, response: ServerResponse | undefined): Promise<HttpError | undefined> {
    // A closed response emits no second `close`, and would keep its slot forever.
    if (response === undefined || response.closed) return undefined;
    const { promise, resolve } = Promise.withResolvers<HttpError | undefined>();
    const request = new LabelRequest(this.#queue, owner, resolve);
    const error = this.#queue.acquire(owner, request);
    if (error !== undefined) return tooMany(error.message);
    response.once('close', () => request.leave(clientGone));
    if (!request.hasSlot) {
      const timedOut = tooMany(`The request for a label waited ${this.#waitMs} ms for its turn.`);
      request.timer = setTimeout(() => request.leave(timedOut), this.#waitMs);
    }
    return promise;
  }
}

class LabelRequest implements QueueEntry<LabelRequest> {
  before: LabelRequest | undefined;
  after: LabelRequest | undefined;
  readonly weight = 1;
  hasSlot = false;
  /** Ends the wait. */
  timer: NodeJS.Timeout | undefined;
  #hasLeft = false;
  readonly #queue: FairQueue<string, LabelRequest>;
  readonly #owner: string;
  readonly #resolve: (error: HttpError | undefined) => void;

  constructor(
    queue: FairQueue<string, LabelRequest>,
    owner: string,
    resolve: (error: HttpError | undefined) => void,
  ) {
    this.#queue = queue;
    this.#owner = owner;
    this.#resolve = resolve;
  }

  onSlotGranted(): void {
    clearTimeout(this.timer);
    this.hasSlot = true;
    this.#resolve(undefined);
  }

  /** Gives back the slot, or the place in the queue. `error`: why a request leaves that still waits. */
  leave(error: HttpError): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    clearTimeout(this.timer);
    if (this.hasSlot) {
      this.#queue.release(this.#owner, this);
    } else {
      this.#queue.remove(this.#owner, this);
      this.#resolve(error);
    }
  }
}

const clientGone: HttpError = {
  status: 499,
  code: 'REQUEST_ABORTED',
  message: 'The client closed the connection before the label was read.',
  retryable: false,
};

function tooMany(reason: string): HttpError {
  return overloaded(`${reason} Try again soon.`);
}

import type { ServerResponse } from 'node:http';
import { loopBudget } from '../../concurrency/event-loop-round.ts';
import { FairQueue, type QueueEntry } from '../../concurrency/fair-queue.ts';
import { anonymousOwner } from '../../concurrency/owner.ts';
import type { HttpError } from '../http/http-error.ts';
import { OpenResponses } from '../http/open-responses.ts';
import { didNotRun } from './refusal.ts';

export interface AdmissionOptions {
  requestsAtOnce: number;
  maxNodes: number;
  unreadBytesAtOnce: number;
}

// Room for ten of the heaviest operations, two for each of five tokens. An operation keeps its slot while it waits for
// REST.
const heaviestAtOnce = 10;
const heaviestAtOncePerToken = 2;
// A page of 50 orders with their shipments. When heavy operations of five tokens wait for a slow REST endpoint, the small
// ones of other tokens go on.
const lightWeight = 100;

/**
 * Lets operations start. One token runs at most twice `maxNodes`, and all tokens together ten times. Further operations
 * wait, and owners start one in turn (docs/design/how-the-server-is-shared.md#light-and-heavy).
 */
export class Admission extends OpenResponses {
  readonly #queue: FairQueue;

  constructor({ requestsAtOnce, maxNodes, unreadBytesAtOnce }: AdmissionOptions) {
    const grantWaiting = () => this.#queue.grantWaiting();
    super(requestsAtOnce, unreadBytesAtOnce, grantWaiting);
    // Operations of weight 1 are limited by `requestsAtOnce` alone, and so are those that wait.
    this.#queue = new FairQueue({
      capacity: Math.max(heaviestAtOnce * maxNodes, requestsAtOnce),
      maxWeightPerToken: Math.max(heaviestAtOncePerToken * maxNodes, Math.ceil(requestsAtOnce / 2)),
      lightWeight,
      hasTime: () => loopBudget.hasTimeFor(grantWaiting),
      isOpenTo: (owner) => this.isOpenTo(owner),
    });
  }

  /** Counts the request of an operation. @returns what happened. An error: the operation may neither start nor wait. */
  enter(operation: QueueEntry, response: ServerResponse): 'started' | 'waiting' | HttpError {
    const refusal = this.admit(operation.owner, response);
    if (refusal !== undefined) return refusal;
    return this.#queue.acquire(operation) === 'granted' ? 'started' : 'waiting';
  }

  leave(operation: QueueEntry): void {
    this.#queue.leave(operation);
  }

  /** Watches the response to an operation that needs only the schema. @returns the error if it may not start. */
  watchSchemaResponse(response: ServerResponse): HttpError | undefined {
    const owner = anonymousOwner(response.req.socket);
    this.watch(owner, response);
    if (this.isOpenTo(owner)) return undefined;
    return didNotRun('Too many responses wait for clients that do not read them.');
  }
}

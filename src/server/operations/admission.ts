import type { ServerResponse } from 'node:http';
import { type Cancellation, untilAborted } from '../../concurrency/cancellation.ts';
import type { LoopTurns } from '../../concurrency/loop-turns.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { Semaphore, SlotRequest } from '../../concurrency/semaphore.ts';
import { type Excess, Usage } from '../../concurrency/usage.ts';
import { type HttpError, overloaded } from '../http/http-error.ts';
import { UnreadBytes } from '../http/unread-response-bytes.ts';

export interface AdmissionOptions {
  requestsAtOnce: number;
  maxNodes: number;
  unreadBytesAtOnce: number;
  turns: LoopTurns;
}

/** A light operation has at most these nodes. Its work takes about 10 ms, and so many nodes start in one turn. */
const maxLightNodes = 600;

// Room for many light operations of a slow REST service, and for three of the heaviest. A heavy one of another token
// finds room while one token has its half.
const lightAtOnce = 10;
const lightAtOncePerToken = 2;
const heavyAtOnce = 3;

/**
 * Lets operations start: light ones and heavy ones, each by a semaphore of its own. An operation has its slot until its
 * result is made. What its client then leaves unread keeps the next operations of the token waiting
 * (docs/design/how-the-server-is-shared.md#light-and-heavy).
 */
export class Admission {
  readonly unread: UnreadBytes;
  readonly #requests: Usage;
  readonly #light: Semaphore;
  readonly #heavy: Semaphore;
  readonly #pagesWeight: number;

  constructor({ requestsAtOnce, maxNodes, unreadBytesAtOnce, turns }: AdmissionOptions) {
    this.unread = new UnreadBytes(unreadBytesAtOnce, () => {
      this.#light.grantWaiting();
      this.#heavy.grantWaiting();
    });
    this.#requests = new Usage(requestsAtOnce, Math.ceil(requestsAtOnce / 2));
    const mayStart = (owner: Owner) => this.unread.mayStart(owner);
    // As many may wait as `#requests` lets in, so these semaphores have no limit of their own.
    this.#light = new Semaphore({
      total: lightAtOnce * maxNodes,
      perToken: lightAtOncePerToken * maxNodes,
      mayStart,
      pace: { turns, perTurn: maxLightNodes },
    });
    this.#heavy = new Semaphore({
      total: heavyAtOnce * maxNodes,
      perToken: (heavyAtOnce * maxNodes) / 2,
      mayStart,
      // One in each turn.
      pace: { turns, perTurn: 1 },
    });
    // As much as the heaviest operation: it may read 20 pages of 1,000 rows.
    this.#pagesWeight = maxNodes;
  }

  /** The error if no request may start or wait, whatever its token. */
  overloadError(): HttpError | undefined {
    return this.#requests.isUsedUp ? tooManyRequests('all tokens') : undefined;
  }

  /** Counts an operation, and asks for its slot. An error: the operation may neither start nor wait. */
  enter(operation: SlotRequest, response: ServerResponse): 'started' | 'waiting' | HttpError {
    const { owner } = operation;
    const requests = requestsFor(response);
    const excess = this.#requests.excess(owner, requests);
    if (excess !== undefined) return tooManyRequests(excess.scope);
    this.#requests.add(owner, requests);
    return this.#semaphoreOf(operation).acquire(operation) === 'granted' ? 'started' : 'waiting';
  }

  /** Ends an operation that has started or waits. Its second call does nothing. */
  leave(operation: SlotRequest, response: ServerResponse): void {
    if (operation.slot === 'none') return;
    this.#requests.add(operation.owner, -requestsFor(response));
    this.#semaphoreOf(operation).release(operation);
  }

  /**
   * The slot of a heavy operation, for a light one that reads more pages than its weight tells. A heavy operation needs no
   * second slot, so that no operations wait for each other.
   * @returns undefined for a heavy operation
   */
  pagesSlotFor({ owner, weight }: SlotRequest): PagesSlot | undefined {
    return weight > maxLightNodes ? undefined : new PagesSlot(this.#heavy, owner, this.#pagesWeight);
  }

  #semaphoreOf({ weight }: SlotRequest): Semaphore {
    return weight > maxLightNodes ? this.#heavy : this.#light;
  }
}

/** The second slot of an operation, for more pages. */
export class PagesSlot extends SlotRequest {
  readonly owner: Owner;
  readonly weight: number;
  readonly #heavy: Semaphore;
  readonly #granted = Promise.withResolvers<void>();

  constructor(heavy: Semaphore, owner: Owner, weight: number) {
    super();
    this.owner = owner;
    this.weight = weight;
    this.#heavy = heavy;
  }

  /** Asks for the slot at the first call. @returns undefined once the operation has it */
  acquire(signal: Cancellation): Promise<void> | undefined {
    if (this.slot === 'none') this.#heavy.acquire(this);
    return this.slot === 'waiting' ? untilAborted(this.#granted.promise, signal) : undefined;
  }

  onSlotGranted(): void {
    this.#granted.resolve();
  }

  /** Gives the slot back, when the operation has ended. */
  release(): void {
    this.#heavy.release(this);
  }
}

/** A request that waits keeps its body in memory. Small bodies take as much as the rest of their requests. */
const bytesPerRequest = 16_384;

/** A body of unknown length counts as the largest one. */
const defaultBodyBytes = 1_048_576;

/** The requests as which one with a large body counts. */
function requestsFor({ req: { method, headers } }: ServerResponse): number {
  const length = headers['content-length'];
  if (method !== 'POST') return 1;
  return 1 + Math.floor((length === undefined ? defaultBodyBytes : Number(length)) / bytesPerRequest);
}

function tooManyRequests(scope: Excess['scope']): HttpError {
  return overloaded(`The server is at its limit of GraphQL requests for ${scope}. Retry later.`);
}

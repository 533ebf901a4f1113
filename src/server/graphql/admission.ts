import type { ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { loopBudget } from '../../concurrency/event-loop-round.ts';
import { FairQueue, type QueueEntry } from '../../concurrency/fair-queue.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import { overloaded } from '../http/http-error.ts';
import type { LoadShedder } from '../http/load-shedding.ts';
import { OpenResponses, schemaReader } from '../http/open-responses.ts';
import { clientGone, refusalError, refusalOf } from './refusal.ts';

/** The limits of `Admission`. */
export interface AdmissionOptions {
  loadShedder: LoadShedder;
  /** Whether REST has accepted the token within an hour. */
  isAccepted: (tenant: Tenant) => boolean;
  /** The maximum number of concurrent GraphQL requests. */
  requestsAtOnce: number;
  /** The maximum number of objects in the response of an operation. */
  maxNodes: number;
  /** The budget of response bytes that no client has taken yet. */
  unreadBytesAtOnce: number;
}

/** An operation that waits for its turn, or runs. Its weight is its estimated number of objects, at least 1. */
export interface QueuedOperation extends QueueEntry<QueuedOperation> {
  readonly tenant: Tenant;
  /** The owner of its turn, set by `enter`. It stays the same when REST accepts the token. */
  owner: Tenant | undefined;
}

/**
 * The owner of the turns of all tokens that REST has not accepted within an hour. Anybody can make up a token, so each of
 * them would get turns of its own.
 */
const unknownTokens: Tenant = { id: 'unknown', writes: 0 };
/** Unknown tokens leave a quarter of the capacity and of the waiting room to tokens that REST has accepted. */
const shareOfUnknown = 3 / 4;

// Room for ten of the heaviest operations, two for each of five tokens. An operation keeps its slot while it waits for
// REST.
const heaviestAtOnce = 10;
const heaviestAtOncePerToken = 2;
// A page of 50 orders with their shipments. When heavy operations of five tokens wait for a slow REST endpoint, the small
// ones of other tokens go on.
const lightWeight = 100;

/**
 * Lets operations start. One token runs at most twice `maxNodes`, and all tokens together ten times. Further operations
 * wait. Tokens with waiting operations start one in turn (docs/decisions/0015-fair-operations.md).
 */
export class Admission {
  readonly #queue: FairQueue<Tenant, QueuedOperation>;
  readonly #openResponses: OpenResponses;
  readonly #loadShedder: LoadShedder;
  readonly #isAccepted: (tenant: Tenant) => boolean;

  constructor({ loadShedder, isAccepted, requestsAtOnce, maxNodes, unreadBytesAtOnce }: AdmissionOptions) {
    this.#loadShedder = loadShedder;
    this.#isAccepted = isAccepted;
    this.#openResponses = new OpenResponses(unreadBytesAtOnce, () => this.#queue.grantWaiting());
    // Operations of weight 1 are limited by `requestsAtOnce` alone.
    const capacity = Math.max(heaviestAtOnce * maxNodes, requestsAtOnce);
    const maxWeightPerToken = Math.max(heaviestAtOncePerToken * maxNodes, Math.ceil(requestsAtOnce / 2));
    const maxWaiting = Math.ceil(requestsAtOnce / 2);
    const grantWaiting = () => this.#queue.grantWaiting();
    this.#queue = new FairQueue({
      capacity,
      maxWeightOf: (owner) => (owner === unknownTokens ? shareOfUnknown * capacity : maxWeightPerToken),
      lightWeight,
      maxWaiting,
      maxWaitingOf: (owner) => Math.ceil((owner === unknownTokens ? shareOfUnknown : 1 / 2) * maxWaiting),
      hasTime() {
        if (loopBudget.hasTime()) return true;
        loopBudget.notifyInTurn(grantWaiting);
        return false;
      },
      isOpenTo: ({ tenant }) => this.isOpenTo(tenant),
      overloaded: (waiting, scope) =>
        overloadedError(
          `${waiting} operations of ${scope === 'all' ? 'all tokens' : 'this token'} wait for their turn, and no more may.`,
        ),
    });
  }

  /**
   * Calls `operation.onSlotGranted` before this method returns if the operation may start now. Otherwise it waits.
   * @param response undefined for a call through `fetch`.
   * @returns the result if the operation may neither start nor wait.
   */
  enter(
    tenant: Tenant,
    operation: QueuedOperation,
    response: ServerResponse | undefined,
  ): ExecutionResult | undefined {
    const refusal = this.admit(tenant, response);
    if (refusal !== undefined) return refusal;
    operation.owner = this.#isAccepted(tenant) ? tenant : unknownTokens;
    const error = this.#queue.acquire(operation.owner, operation);
    // A GraphQL error: `overloaded` makes it.
    return error && { errors: [error as GraphQLError] };
  }

  /** Counts a request, and watches its response. @returns the result if the operation may not run. */
  admit(tenant: Tenant, response: ServerResponse | undefined): ExecutionResult | undefined {
    const httpError = this.#loadShedder.admit('graphql', tenant, response);
    if (httpError !== undefined) return refusalOf(httpError);
    this.#openResponses.watch(tenant, response);
    return undefined;
  }

  /** Whether the clients of a token take its responses, so that it may start more operations. */
  isOpenTo(tenant: Tenant): boolean {
    return this.#openResponses.isBelowShare(tenant);
  }

  /**
   * Ends the wait of an operation.
   * @param hasTimedOut whether its time has passed. Otherwise its client has gone.
   * @returns the result of the operation.
   */
  stopWaiting(tenant: Tenant, operation: QueuedOperation, hasTimedOut: boolean): ExecutionResult {
    this.#queue.remove(operation.owner ?? tenant, operation);
    return hasTimedOut ? { errors: [overloadedError('It waited too long for its turn.')] } : clientGone();
  }

  /** Ends a running operation. */
  release(tenant: Tenant, operation: QueuedOperation): void {
    this.#queue.release(operation.owner ?? tenant, operation);
  }

  /** Watches the response to an operation that needs only the schema. @returns the result if it may not start. */
  watchSchemaResponse(response: ServerResponse | undefined): ExecutionResult | undefined {
    this.#openResponses.watch(schemaReader, response);
    if (this.#openResponses.isBelowShare(schemaReader)) return undefined;
    return { errors: [overloadedError('Too many responses wait for clients that do not read them.')] };
  }
}

function overloadedError(reason: string): GraphQLError {
  return refusalError(overloaded(`The operation did not run: ${reason} Try again soon.`));
}

import type { ExecutionResult } from 'graphql';
import type { OperationScope } from '../../concurrency/operation-scope.ts';
import { CoalescingMap, joinableMs } from '../../tenancy/coalescing-map.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { Operation } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';

/** A running query. Several requests may wait for its result: each is a waiter of its operation scope. */
export interface InFlightQuery {
  readonly tenant: Tenant;
  readonly key: string;
  readonly scope: OperationScope;
  /** A time of `performance.now()`. */
  readonly startedAtMs: number;
  /** Undefined after the query, because V8 may keep the outgrown table of a Map, and this object with it. */
  result: Promise<ExecutionResult> | undefined;
}

/**
 * Runs equal queries of one tenant once for all their requests, if the first query started at most 100 ms earlier. A
 * shared query runs until all its clients have disconnected. Results are not kept after the query.
 * Reasons: docs/decisions/0008-shared-in-flight-requests.md.
 */
export class QuerySharing {
  readonly #inFlight = new CoalescingMap<InFlightQuery>();
  #operationCount = 0;
  // The document cache gives equal texts the same document while the document is cached.
  readonly #operationNumberOf = perOperation(() => ++this.#operationCount);

  /** The key that equal queries have in common. Undefined if the query can't be shared. */
  keyOf({ definition, document, variables }: Operation, showsCost: boolean): string | undefined {
    const text = variables === undefined ? '' : JSON.stringify(variables);
    // JSON.stringify turns an infinite number, such as 1e400, into null.
    if (text.includes('null') && !isAllFinite(variables)) return undefined;
    return `${showsCost} ${this.#operationNumberOf(definition, document)} ${text}`;
  }

  /** The running query with this key, if it started at most 100 ms ago. */
  find(tenant: Tenant, key: string): InFlightQuery | undefined {
    const query = this.#inFlight.find(tenant, key);
    if (query === undefined || query.scope.signal.aborted) return undefined;
    return performance.now() - query.startedAtMs <= joinableMs ? query : undefined;
  }

  /** Adds a query that has just started. Call `remove` when the query ends. */
  add(tenant: Tenant, key: string, scope: OperationScope, result: Promise<ExecutionResult>): InFlightQuery {
    const query = { tenant, key, scope, startedAtMs: performance.now(), result };
    this.#inFlight.add(tenant, key, query);
    return query;
  }

  /** Removes a query that has ended. */
  remove(query: InFlightQuery): void {
    this.#inFlight.remove(query.tenant, query.key, query);
    query.result = undefined;
  }
}

/** Whether all numbers of a JSON value are finite. The recursion is safe because limits bound the depth. */
function isAllFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isAllFinite);
}

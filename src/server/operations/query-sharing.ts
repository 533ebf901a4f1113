import type { ExecutionResult } from 'graphql';
import type { OperationScope } from '../../concurrency/operation-scope.ts';
import { PerTenant, type Tenant } from '../../tenancy/tenant.ts';
import type { Operation } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';

/**
 * How long after its start other requests may join a query, in milliseconds. A shared result is at most this much older
 * than a result of their own would be.
 */
const joinableMs = 100;

/** A running query. Several requests may wait for its result: each is a waiter of its operation scope. */
export interface InFlightQuery {
  readonly tenant: Tenant;
  readonly key: string;
  readonly scope: OperationScope;
  readonly startedAtMs: number;
  /** The tenant's number of writes at the start. A query does not join one that started before a write. */
  readonly writes: number;
  /** Undefined after the query, because V8 may keep the outgrown table of a Map, and this object with it. */
  result: Promise<ExecutionResult> | undefined;
}

/**
 * Runs equal queries of one tenant once for all their requests, if the first query started at most 100 ms earlier. A
 * shared query runs until all its clients have disconnected. Results are not kept after the query.
 * Reasons: docs/design/how-a-query-is-executed.md#queries-share-no-results.
 */
export class QuerySharing {
  readonly #inFlight = new PerTenant<Map<string, InFlightQuery>>();
  #operationCount = 0;
  // The document cache gives equal texts the same document while the document is cached.
  readonly #operationNumber = perOperation(() => ++this.#operationCount);

  /** The key that equal queries have in common. Undefined if the query can't be shared. */
  key({ definition, document, variables }: Operation, showsCost: boolean): string | undefined {
    const text = variables === undefined ? '' : JSON.stringify(variables);
    // JSON.stringify turns an infinite number, such as 1e400, into null.
    if (text.includes('null') && !isAllFinite(variables)) return undefined;
    return `${showsCost} ${this.#operationNumber(definition, document)} ${text}`;
  }

  /** The running query with this key that a query with this scope may join. */
  find(tenant: Tenant, key: string, scope: OperationScope): InFlightQuery | undefined {
    const query = this.#inFlight.known(tenant)?.get(key);
    if (query === undefined || query.scope.signal.aborted || query.writes !== tenant.writes) return undefined;
    // A wait for a turn may have used up the time of one of the two.
    const aheadMs = query.scope.remainingMs() - scope.remainingMs();
    if (Math.abs(aheadMs) > joinableMs) return undefined;
    return performance.now() - query.startedAtMs <= joinableMs ? query : undefined;
  }

  /** Adds a query that has just started. Call `remove` when the query ends. */
  add(tenant: Tenant, key: string, scope: OperationScope, result: Promise<ExecutionResult>): InFlightQuery {
    const { writes } = tenant;
    const query = { tenant, key, scope, startedAtMs: performance.now(), writes, result };
    this.#inFlight.of(tenant, () => new Map()).set(key, query);
    return query;
  }

  remove(query: InFlightQuery): void {
    query.result = undefined;
    const { tenant, key } = query;
    const byKey = this.#inFlight.known(tenant);
    // A later query may have replaced it.
    if (byKey?.get(key) !== query) return;
    byKey.delete(key);
    // An empty Map would outlive the query: many tenants are remembered, and most run one query at a time.
    if (byKey.size === 0) this.#inFlight.drop(tenant);
  }
}

/** Whether all numbers of a JSON value are finite. The recursion is safe because limits bound the depth. */
function isAllFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isAllFinite);
}

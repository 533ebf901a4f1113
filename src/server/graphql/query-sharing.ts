import type { ExecutionResult } from 'graphql';
import { InFlight, joinableMs } from '../../concurrency/in-flight.ts';
import type { OperationScope } from '../../concurrency/operation-scope.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import { perOperation } from '../documents/per-operation.ts';
import type { Operation } from './operation-request.ts';

/** A query in flight, for which several requests may wait: each joins its lifetime. */
export interface InFlightQuery {
  readonly tenant: Tenant;
  readonly key: string;
  readonly scope: OperationScope;
  /** By the clock of `performance`. */
  readonly startedAtMs: number;
  /** Undefined once the query has ended, as what a Map has outgrown may hold the query for long. */
  result: Promise<ExecutionResult> | undefined;
}

/**
 * Equal queries of one tenant that begin within 100 ms of each other are run once for all who asked. Each is answered as if
 * it were alone, and the query goes on until all have gone. Nothing is kept once it has ended.
 */
export class QuerySharing {
  readonly #inFlight = new InFlight<InFlightQuery>();
  #operationCount = 0;
  // Two documents of the same text are one as long as it is known.
  readonly #operationNumberOf = perOperation(() => ++this.#operationCount);

  /** The same for all queries that are equal; undefined for one that is equal to no other. */
  keyOf({ definition, document, variables }: Operation, showsCost: boolean): string | undefined {
    const text = variables === undefined ? '' : JSON.stringify(variables);
    // JSON has null for a number like 1e400.
    if (text.includes('null') && !isAllFinite(variables)) return undefined;
    return `${showsCost} ${this.#operationNumberOf(definition, document)} ${text}`;
  }

  /** The query with this key, if it began so shortly before that its result will do. */
  find(tenant: Tenant, key: string): InFlightQuery | undefined {
    const query = this.#inFlight.find(tenant, key);
    if (query === undefined || query.scope.signal.aborted) return undefined;
    return performance.now() - query.startedAtMs <= joinableMs ? query : undefined;
  }

  /** A query has begun, and is in flight until `ended`. */
  add(tenant: Tenant, key: string, scope: OperationScope, result: Promise<ExecutionResult>): InFlightQuery {
    const query = { tenant, key, scope, startedAtMs: performance.now(), result };
    this.#inFlight.add(tenant, key, query);
    return query;
  }

  remove(query: InFlightQuery): void {
    this.#inFlight.remove(query.tenant, query.key, query);
    query.result = undefined;
  }
}

/** Whether all numbers of a JSON value are finite. It is no deeper than limits allow. */
function isAllFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isAllFinite);
}

import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type Ledger, type LedgerEntry, totalsOf } from '../rest/ledger.ts';
import { needsRest } from './authentication.ts';
import type { OperationContext } from './context.ts';

/** What an operation has cost, as clients see it. Nothing in it tells what was asked for, or by whom. */
export interface OperationCost {
  /** How many REST calls were made for it. */
  calls: number;
  /** How many more were another operation's, which waited for the same answer. */
  shared: number;
  /** How many pages were known from an earlier operation. */
  cached: number;
  /** How many gets a list has made unnecessary. */
  savedByList: number;
  requests: RequestCost[];
}

export interface RequestCost {
  method: string;
  /** With `{id}` in the place of identifiers, and without the query. */
  path: string;
  /** Null where no answer came. */
  status: number | null;
  /** When it was sent, since the operation began. */
  startMs: number;
  /** Null where the operation was answered before it. */
  durationMs: number | null;
  bytes: number;
  retries: number;
  shared: boolean;
  /** The paths of the fields that asked for it; `*` stands for the indexes of several items of a list. */
  askedBy: readonly string[];
}

/** Whether a request asks to be shown what its operation cost. */
export function asksForCost(headers: Headers): boolean {
  return headers.get('x-upstream-cost') === '1';
}

/**
 * Shows what an operation cost as `extensions.upstream` of its answer, where that is asked for and REST is what answers.
 * Stands behind the plugins that choose how an operation is run, and before those that let others have its answer, which
 * is theirs as it is.
 */
export function showCost(): Plugin<OperationContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: OperationContext = args.contextValue;
      if ('missingBearer' in context || !context.showsCost) return;
      if (!needsRest(args.document, args.operationName)) return;
      setExecuteFn(async (executionArgs) => {
        // A stream would be a subscription's or one of @defer's, and the schema has neither.
        const result: ExecutionResult = await executeFn(executionArgs);
        return { ...result, extensions: { ...result.extensions, upstream: costOf(context.ledger) } };
      });
    },
  };
}

/** The numbers of a ledger as they are shown. */
export function costOf(ledger: Ledger): OperationCost {
  const { calls, shared } = totalsOf(ledger);
  const { entries, cached, savedByList } = ledger;
  return { calls, shared, cached, savedByList, requests: entries.map(requestCost) };
}

/** The numbers of a call as they are shown. */
export function requestCost(entry: LedgerEntry): RequestCost {
  const { method, route, status = null, startMs, durationMs, bytes, retries, isShared, askedBy } = entry;
  return {
    method,
    path: route,
    status,
    startMs: tenths(startMs),
    durationMs: durationMs === undefined ? null : tenths(durationMs),
    bytes,
    retries,
    shared: isShared,
    askedBy,
  };
}

/** Times are shown to the tenth of a millisecond. */
export function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

import type { ExecutionResult } from 'graphql';
import type { Lifetime } from '../../rest/lifetime.ts';
import { perOperation } from '../documents/per-document.ts';
import type { RawVariables } from '../limits/value-limits.ts';
import type { OperationContext } from './context.ts';
import type { Asking, Execute, Operation } from './operation.ts';

/** A query under way, and nothing any more once it is answered. */
interface Flight {
  underWay: { answer: Promise<ExecutionResult>; lifetime: Lifetime } | undefined;
}

/** Runs a query, or has it answered by an equal one that is under way. */
export type RunShared = (
  operation: Operation,
  context: OperationContext,
  asking: Asking,
  execute: Execute,
) => Promise<ExecutionResult>;

/**
 * Runs equal queries of one tenant that are under way at the same time once, for all who asked. Each is answered as if it
 * were alone, and the query goes on until all have gone. Nothing is kept once it is answered.
 */
export function sharedOperations(): RunShared {
  const flights = new Map<string, Flight>();
  let operations = 0;
  // Two documents of the same text are one as long as it is known.
  const numberOf = perOperation(() => ++operations);

  return async ({ definition, document, variables }, context, asking, execute) => {
    const values = valuesOf(variables);
    if (values === undefined) return execute();
    const { tenant, lifetime, showsCost } = context;
    // What was asked for before a write has ended may be answered as it was before.
    const key = `${tenant.id} ${tenant.writes} ${showsCost} ${numberOf(definition, document)} ${values}`;
    const known = flights.get(key)?.underWay;
    if (known !== undefined && isWorthJoining(known.lifetime, lifetime)) {
      asking.whenGone(known.lifetime.join());
      if (asking.exchange !== undefined) asking.exchange.joined = true;
      return known.answer;
    }
    const answer = Promise.resolve(execute());
    const flight: Flight = { underWay: { answer, lifetime } };
    flights.set(key, flight);
    try {
      return await answer;
    } finally {
      // One that everybody has left may have a successor already.
      if (flights.get(key) === flight) flights.delete(key);
      // A Map that has grown leaves its former table behind, with all that was in it, until a full collection of garbage.
      flight.underWay = undefined;
    }
  };
}

/** The values as a text; undefined where that can't tell them apart, as JSON has null for a number like 1e400. */
function valuesOf(variables: RawVariables | undefined): string | undefined {
  if (variables === undefined) return '';
  const text = JSON.stringify(variables);
  return text.includes('null') && !areFinite(variables) ? undefined : text;
}

/** Whether all numbers of a JSON value are. It is no deeper than limits allow. */
function areFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(areFinite);
}

/** Whether most of the time that one would have alone is left, so that none is told that all of it has passed. */
function isWorthJoining({ signal, deadline }: Lifetime, own: Lifetime): boolean {
  return !signal.aborted && deadline.remainingMs() >= own.deadline.remainingMs() / 2;
}

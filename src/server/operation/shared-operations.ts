import type { ExecutionResult } from 'graphql';
import type { Lifetime } from '../../rest/lifetime.ts';
import { PassingMap } from '../../rest/passing-map.ts';
import { perOperation } from '../documents/per-operation.ts';
import type { RawVariables } from '../limits/value-limits.ts';
import type { OperationContext } from './context.ts';
import type { Operation } from './operation.ts';

/** A query under way, and nothing any more once it is answered. */
export class QueryUnderWay {
  readonly key: string;
  underWay: { answer: Promise<ExecutionResult>; lifetime: Lifetime } | undefined;

  constructor(key: string, answer: Promise<ExecutionResult>, lifetime: Lifetime) {
    this.key = key;
    this.underWay = { answer, lifetime };
  }
}

/**
 * Equal queries of one tenant that are under way at the same time, which are run once for all who asked. Each is answered as
 * if it were alone, and the query goes on until all have gone. Nothing is kept once it is answered.
 */
export interface SharedOperations {
  /** What equal queries have in common; undefined for one that is equal to no other. */
  keyOf(operation: Operation, context: OperationContext): string | undefined;
  /** The one under way by whose answer another with this key can be answered, in the lifetime that it has. */
  worthJoining(key: string, own: Lifetime): QueryUnderWay['underWay'];
  /** A query is under way until `ended`. */
  began(key: string, answer: Promise<ExecutionResult>, lifetime: Lifetime): QueryUnderWay;
  ended(query: QueryUnderWay): void;
}

export function sharedOperations(): SharedOperations {
  const queries = new PassingMap<string, QueryUnderWay>();
  let operations = 0;
  // Two documents of the same text are one as long as it is known.
  const numberOf = perOperation(() => ++operations);

  return {
    keyOf({ definition, document, variables }, { tenant, showsCost }) {
      const values = valuesOf(variables);
      if (values === undefined) return undefined;
      // What was asked for before a write has ended may be answered as it was before.
      return `${tenant.id} ${tenant.writes} ${showsCost} ${numberOf(definition, document)} ${values}`;
    },
    worthJoining(key, own) {
      const known = queries.get(key)?.underWay;
      return known !== undefined && isWorthJoining(known.lifetime, own) ? known : undefined;
    },
    began(key, answer, lifetime) {
      const query = new QueryUnderWay(key, answer, lifetime);
      queries.set(key, query);
      return query;
    },
    ended(query) {
      // One that everybody has left may have a successor already.
      if (queries.get(query.key) === query) queries.delete(query.key);
      // What the map has outgrown holds up to 256 that have ended until there is a Map anew, but then not their answers.
      query.underWay = undefined;
    },
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

import type { DocumentNode, ExecutionResult, OperationDefinitionNode } from 'graphql';
import type { Lifetime } from '../../rest/lifetime.ts';
import { joinableMs, type Shareable, UnderWay } from '../../rest/under-way.ts';
import { perOperation } from '../documents/per-operation.ts';
import type { RawVariables } from '../limits/variable-limits.ts';
import type { OperationContext } from './context.ts';
import type { Operation } from './operation.ts';

/** A query that is to be run, or is under way. */
export class ShareableQuery implements Shareable {
  readonly tenantId: string;
  /** Set while it is under way. */
  underWay: { answer: Promise<ExecutionResult>; lifetime: Lifetime; begunAtMs: number } | undefined;
  /** Undefined once it has ended. */
  #operation: Operation | undefined;
  readonly #showsCost: boolean;
  readonly #numberOf: NumberOf;
  /** How many writes had ended when it was asked for: what is asked for after another must not get its answer. */
  readonly #writes: number;
  #key: string | undefined;
  #hasKey = false;

  constructor(operation: Operation, { tenant, showsCost }: OperationContext, numberOf: NumberOf) {
    this.tenantId = tenant.id;
    this.#operation = operation;
    this.#showsCost = showsCost;
    this.#numberOf = numberOf;
    this.#writes = tenant.writes;
  }

  get key(): string | undefined {
    if (!this.#hasKey) {
      this.#key = this.#makeKey();
      this.#hasKey = true;
    }
    return this.#key;
  }

  /** Once no key is needed any more: nothing of it stays where it is still held. */
  end(): void {
    this.underWay = undefined;
    this.#operation = undefined;
  }

  #makeKey(): string | undefined {
    if (this.#operation === undefined) return undefined;
    const { definition, document, variables } = this.#operation;
    const values = valuesOf(variables);
    if (values === undefined) return undefined;
    return `${this.#writes} ${this.#showsCost} ${this.#numberOf(definition, document)} ${values}`;
  }
}

/** Tells operations apart. */
type NumberOf = (definition: OperationDefinitionNode, document: DocumentNode) => number;

/**
 * Equal queries of one tenant that begin within 100 ms of each other, which are run once for all who asked. Each is answered as
 * if it were alone, and the query goes on until all have gone. Nothing is kept once it is answered.
 */
export interface SharedOperations {
  /** A query before it is run. Nothing knows of it until it has begun. */
  of(operation: Operation, context: OperationContext): ShareableQuery;
  /** An equal one that has begun so shortly before that its answer will do. */
  joinable(query: ShareableQuery): ShareableQuery['underWay'];
  /** A query is under way until `ended`. */
  began(query: ShareableQuery, answer: Promise<ExecutionResult>, lifetime: Lifetime): void;
  ended(query: ShareableQuery): void;
}

export function sharedOperations(): SharedOperations {
  const queries = new UnderWay<ShareableQuery>();
  let operations = 0;
  // Two documents of the same text are one as long as it is known.
  const numberOf = perOperation(() => ++operations);

  return {
    of: (operation, context) => new ShareableQuery(operation, context, numberOf),
    joinable(query) {
      const known = queries.equalTo(query)?.underWay;
      if (known === undefined || known.lifetime.signal.aborted) return undefined;
      return performance.now() - known.begunAtMs <= joinableMs ? known : undefined;
    },
    began(query, answer, lifetime) {
      query.underWay = { answer, lifetime, begunAtMs: performance.now() };
      queries.add(query);
    },
    ended(query) {
      queries.remove(query);
      // What a map has outgrown may hold it until there is a Map anew, but then not its answer.
      query.end();
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

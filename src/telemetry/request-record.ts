import type { OperationDefinitionNode } from 'graphql';
import type { Caller } from '../rest/client/call-context.ts';

/** A request and its answer, as far as its line in the log tells of it. */
export interface Exchange {
  readonly requestId: string;
  /** By the clock of `performance`. */
  readonly startedAt: number;
  /** Undefined for pages and files, and for what has no address here. */
  route: 'graphql' | 'label' | undefined;
  /** Undefined where the request was refused before one was chosen. */
  operation: OperationDefinitionNode | undefined;
  /** Who asked, and what that has cost; undefined without an access token, and where the request was refused before. */
  caller: Pick<Caller, 'tenant' | 'ledger'> | undefined;
  /** Whether it got the answer to an equal query that was under way. */
  joined: boolean;
  /** Whether the answer is one of errors alone, as nothing of the operation has run. */
  isRefused: boolean;
  /** How often each code is among the errors of the answer; undefined where it has none. */
  errors: Record<string, number> | undefined;
}

/** Is told of every request, for metrics. Must not throw. */
export interface RequestObserver {
  began(exchange: Exchange): void;
  /** Once for each that began. `status` is that of the answer. */
  answered(exchange: Exchange, status: number, isAborted: boolean): void;
}

/** What a request brings along on its way through the server; the log's own plugin puts it there. */
export interface ExchangeContext {
  exchange?: Exchange;
}

export function createExchange(requestId: string): Exchange {
  return {
    requestId,
    startedAt: performance.now(),
    route: undefined,
    operation: undefined,
    caller: undefined,
    joined: false,
    isRefused: false,
    errors: undefined,
  };
}

/** Notes the code of an error that is in the answer. */
export function countError(exchange: Exchange, code: string): void {
  exchange.errors ??= {};
  exchange.errors[code] = (exchange.errors[code] ?? 0) + 1;
}

/** The headers of a request, by names in small letters. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** A name is the client's to choose; one that is longer than any that people give is not for the log. */
export function nameToTell(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 64 ? name : undefined;
}

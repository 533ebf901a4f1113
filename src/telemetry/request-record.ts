import type { OperationDefinitionNode } from 'graphql';
import type { CallContext } from '../rest/client/call-context.ts';

/** A request and its answer, as far as its line in the log tells of it. */
export interface RequestRecord {
  readonly requestId: string;
  /** By the clock of `performance`. */
  readonly startedAt: number;
  /** Undefined for pages and files, and for what has no address here. */
  route: 'graphql' | 'label' | undefined;
  /** Undefined where the request was refused before one was chosen. */
  operation: OperationDefinitionNode | undefined;
  /** Who asked, and what that has cost; undefined without an access token, and where the request was refused before. */
  callContext: Pick<CallContext, 'tenant' | 'callLog'> | undefined;
  /** Whether it got the answer to an equal query that was under way. */
  joined: boolean;
  /** Whether the answer is one of errors alone, as nothing of the operation has run. */
  isRefused: boolean;
  /** How often each code is among the errors of the answer; undefined where it has none. */
  errors: Record<string, number> | undefined;
}

/** Is told of every request, for metrics. Must not throw. */
export interface RequestObserver {
  onRequestStarted(requestRecord: RequestRecord): void;
  /** Once for each that began. `status` is that of the answer. */
  onRequestFinished(requestRecord: RequestRecord, status: number, isAborted: boolean): void;
}

/** What a request brings along on its way through the server; the log's own plugin puts it there. */
export interface RequestRecordContext {
  requestRecord?: RequestRecord;
}

export function createRequestRecord(requestId: string): RequestRecord {
  return {
    requestId,
    startedAt: performance.now(),
    route: undefined,
    operation: undefined,
    callContext: undefined,
    joined: false,
    isRefused: false,
    errors: undefined,
  };
}

/** Notes the code of an error that is in the answer. */
export function countError(requestRecord: RequestRecord, code: string): void {
  requestRecord.errors ??= {};
  requestRecord.errors[code] = (requestRecord.errors[code] ?? 0) + 1;
}

/** The headers of a request, by names in small letters. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** A name is the client's to choose; one that is longer than any that people give is not for the log. */
export function loggableName(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 64 ? name : undefined;
}

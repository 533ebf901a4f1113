import type { OperationDefinitionNode } from 'graphql';
import type { CallContext } from '../rest/client/call-context.ts';

/** The data of a request and its response for the log, the metrics and the traces. */
export class RequestRecord {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  /** Undefined for pages, static files and unknown paths. */
  route: 'graphql' | 'label' | 'document' | undefined;
  /** Undefined if the request was rejected before its operation was selected. */
  operation: OperationDefinitionNode | undefined;
  /** The tenant, its owner and the call log. Undefined without an access token, or if the request was rejected early. */
  callContext: Pick<CallContext, 'tenant' | 'owner' | 'callLog'> | undefined;
  /** Whether the response has only errors, because nothing of the operation ran. */
  isRejected = false;
  /** The number of errors in the response by code. Undefined without errors. */
  errors: Record<string, number> | undefined;

  constructor(requestId: string) {
    this.requestId = requestId;
  }
}

export function countError(requestRecord: RequestRecord, code: string): void {
  requestRecord.errors ??= {};
  requestRecord.errors[code] = (requestRecord.errors[code] ?? 0) + 1;
}

/** The operation name, or undefined if the name is too long for the log. Clients choose the name. */
export function loggableName(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 64 ? name : undefined;
}

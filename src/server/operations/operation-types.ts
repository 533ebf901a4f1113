import type { ServerResponse } from 'node:http';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { HeaderReader } from '../http/http-types.ts';

/** The HTTP request of an operation, on the fast path or through Yoga. */
export interface OperationRequest {
  readonly headers: HeaderReader;
  /** Undefined if the request is not recorded. */
  readonly requestRecord: RequestRecord | undefined;
  readonly response: ServerResponse;
  /** Calls `listener` with the reason when the client disconnects, or at once if the client has disconnected. */
  onAbort(listener: (reason: unknown) => void): void;
}

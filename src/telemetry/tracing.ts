import type { CallObserver } from '../rest/client/call-log.ts';
import type { HeaderReader, RequestRecord } from './request-record.ts';

export interface Tracing {
  /** Creates a child span per REST call and sends its trace context to REST. */
  readonly calls: CallObserver;
  /** Starts the span of an operation or label once its access token is known. `headers`: of the request. */
  begin(requestRecord: RequestRecord, headers: HeaderReader): void;
  /** Ends the span with the response. Creates it first if the request was rejected before `begin`. */
  end(requestRecord: RequestRecord, headers: HeaderReader, status: number): void;
  /** Sends all remaining spans, without a time limit. */
  close(): Promise<void>;
}

import type { CallObserver } from '../rest/client/call-observer.ts';
import type { HeaderReader, RequestRecord } from './request-record.ts';

/** Spans of operations, of labels and of the REST calls that they cost. */
export interface Tracing {
  /** Makes a span of each call, within that of the operation or label, and passes it on to REST. */
  readonly calls: CallObserver;
  /** An operation or a label is begun, once it is known who has asked. `headers` are the request's. */
  begin(requestRecord: RequestRecord, headers: HeaderReader): void;
  /** It is answered, or was refused before it began. */
  end(requestRecord: RequestRecord, headers: HeaderReader, status: number): void;
  /** Sends what has not been sent yet, for as long as the collector takes. */
  close(): Promise<void>;
}

import type { Loaders } from '../loaders/loaders.ts';
import type { Writes } from '../writes/writes.ts';

/** An error in the form in which a client may see it. */
export interface ReportedError {
  message: string;
  code: string;
  /** Whether the same request may succeed when the client repeats it. */
  retryable: boolean;
  /** How long to wait before a retry, in milliseconds. Absent if REST named no delay. */
  retryAfterMs?: number;
}

/** The context of resolvers. The server makes one for each operation. */
export interface Context {
  readonly loaders: Loaders;
  /** The writes to REST. After a write, the loaders return the new data. */
  readonly writes: Writes;
  /** ISO 4217 code of the currency of amounts for which the REST interface names none. */
  readonly currency: string;
  /** Makes error details for a result that reports the error as data, not as a field error. */
  reportError(error: unknown): ReportedError;
  /** This server's own URL of the label PDF of a shipment. */
  labelUrl(shipmentName: string): string;
}

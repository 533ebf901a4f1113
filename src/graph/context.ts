import type { Loaders } from '../loaders/loaders.ts';
import type { Writes } from '../writes/writes.ts';

/** An error as a client may see it. */
export interface ReportedError {
  message: string;
  code: string;
  /** Whether the same may succeed when it is done again. */
  retryable: boolean;
  retryAfterMs?: number;
}

/** What a resolver can reach. Made by the server, once for each operation. */
export interface Context {
  /** @throws MissingBearerError where the request bears no access token. */
  readonly loaders: Loaders;
  /** What can be changed. The loaders know of it afterwards. */
  readonly writes: Writes;
  /** ISO 4217 code of the money for which the REST interface names no currency. */
  readonly currency: string;
  /** Whether its calls are to be told by which fields they were asked for. */
  readonly showsCost: boolean;
  /** What a client is told of an error, where that is data and no error of a field. */
  reportError(error: unknown): ReportedError;
  /** This server's own address for the label of a shipment. */
  labelUrl(shipmentName: string): string;
}

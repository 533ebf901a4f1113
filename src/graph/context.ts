import type { Loaders } from '../loaders/loaders.ts';

/** What a resolver can reach. Made by the server, once for each operation. */
export interface Context {
  /** @throws MissingBearerError where the request bears no access token. */
  readonly loaders: Loaders;
  /** ISO 4217 code of the money for which the REST interface names no currency. */
  readonly currency: string;
  /** This server's own address for the label of a shipment. */
  labelUrl(shipmentName: string): string;
}

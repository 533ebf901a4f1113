import { WaybillError } from '../rest/errors.ts';

/** Why a write contradicts the present state. */
type ConflictReason = 'ALREADY_SHIPPED' | 'ORDER_FINISHED' | 'KEY_REUSED';

/** The request contradicts the present state: the order is shipped already, or the key was used with another input. */
export class ConflictError extends WaybillError {
  readonly reason: ConflictReason;
  /** The resource name of the shipment that the order has. */
  readonly shipment: string | undefined;

  constructor(message: string, reason: ConflictReason, shipment?: string) {
    super(message);
    this.reason = reason;
    this.shipment = shipment;
  }
}

/** A record that a workflow starts from does not exist. */
export class NotFoundError extends WaybillError {
  /** The resource name of the missing record. */
  readonly id: string;
  /** The field of the request that names the record. */
  readonly path: string;

  constructor(id: string, path: string) {
    super(`${id} does not exist. Check the id.`);
    this.id = id;
    this.path = path;
  }
}

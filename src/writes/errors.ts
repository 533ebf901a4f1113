import { WaybillError } from '../rest/errors.ts';

/** The request contradicts the present state: the order is shipped already, or the key was used with another input. */
export class ConflictError extends WaybillError {
  /** `shipment` is the resource name of the shipment that the order has. */
  readonly details: { reason: 'ALREADY_SHIPPED' | 'ORDER_FINISHED' | 'KEY_REUSED'; shipment?: string };

  constructor(message: string, details: ConflictError['details']) {
    super(message);
    this.details = details;
  }
}

/** A record that a workflow starts from does not exist. */
export class NotFoundError extends WaybillError {
  /** The resource name of the missing record, and the field of the request that names it. */
  readonly target: { id: string; path: string };

  constructor(id: string, path: string) {
    super(`${id} does not exist. Check the id.`);
    this.target = { id, path };
  }
}

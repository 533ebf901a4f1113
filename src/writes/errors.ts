import { WaybillError } from '../rest/errors.ts';

/**
 * The request contradicts the present state: the order is shipped already, or the key was used with another input.
 */
export class ConflictError extends WaybillError {
  override readonly name = 'ConflictError';
}

/** A record that a workflow starts from does not exist. */
export class NotFoundError extends WaybillError {
  override readonly name = 'NotFoundError';
  /** The resource name of the missing record. */
  readonly id: string;

  constructor(id: string) {
    super(`${id} does not exist. Check the id.`);
    this.id = id;
  }
}

import { WaybillError } from '../rest/errors.ts';

/** What was asked for contradicts what there is: an order that is shipped already, a key that stands for another input. */
export class ConflictError extends WaybillError {
  override readonly name = 'ConflictError';
}

/** A record that a workflow starts from does not exist. */
export class NotFoundError extends WaybillError {
  override readonly name = 'NotFoundError';
  /** Its resource name. */
  readonly id: string;

  constructor(id: string) {
    super(`${id} does not exist. Check the id.`);
    this.id = id;
  }
}

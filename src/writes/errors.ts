import {
  type BudgetExceededError,
  OutcomeUnknownError,
  type StatusError,
  WaybillError,
} from '../rest/errors.ts';

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

/**
 * The outcome of an earlier attempt is unknown, a search found no record of it, and REST may show the record later. This
 * request wrote nothing, and its deadline is too early to wait, or it has no read left to look again.
 */
export class UnsettledError extends WaybillError {
  /** Milliseconds until a search is conclusive. */
  readonly retryAfterMs: number;

  /** @param options the error of the second search; none if the deadline is too early */
  constructor(retryAfterMs: number, options?: { cause: BudgetExceededError }) {
    super(`An earlier attempt got no response. Send the request again in ${retryAfterMs} ms`, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Nothing shows what an earlier attempt has done. This request sent no write. */
export class EarlierAttemptUnknownError extends OutcomeUnknownError {}

/** REST refused a POST, perhaps because it had done the same POST before, and no search shows which. */
export class UnclearRefusalError extends OutcomeUnknownError {
  readonly refusal: StatusError;

  /** @param cause why no search shows whether REST did the POST; by default the refusal. */
  constructor(refusal: StatusError, cause: unknown = refusal) {
    super(`${refusal.summary}, perhaps because a proxy sent the POST twice`, { cause });
    this.refusal = refusal;
  }
}

/** The error of a retry with a key whose first attempt got no response. `wasNotFound`: whether a search found no record. */
export function earlierAttemptUnknown(options: { wasNotFound: boolean }): OutcomeUnknownError {
  return new OutcomeUnknownError('An earlier attempt with this key got no response', options);
}

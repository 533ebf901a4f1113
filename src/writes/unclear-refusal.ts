import { isConflict, isNotFound, StatusError, WaybillError } from '../rest/errors.ts';
import { UnclearRefusalError } from './errors.ts';

/** The fields of a body that only one record can have. Services spell names in their own ways. */
const onceOnlyFields = { quote: /(^|\.)quote(_?id)?$/i, referenceId: /(^|\.)reference_?id$/i } as const;

/** REST's codes for a state that neither a message nor an order without a reference brings about. */
const otherStates: readonly (string | undefined)[] = [
  'FAILED_PRECONDITION',
  'STATE',
  'CHANNEL_INACTIVE',
  'ORDER_FINISHED',
];

/**
 * Whether REST may have done a POST that it refused: a proxy may send a POST twice, and pass on the second answer. Then
 * the first POST must be the reason for the refusal.
 * - 409 and 412: the state forbids the write, which may be the state after the first POST. For a write that no search
 *   finds, REST's code decides: such a write does not bring about the state that a precondition is about.
 * - 404 and 410 to a shipment: the quote was there before, and the first POST may have used it up.
 * - 422 that names no field but the one that works once, and 400 that names this field.
 *
 * All other refusals are about the content or the sender, which both POSTs have in common.
 * @param onceOnly the field of the body that only one record can have; undefined if there is none.
 */
export function mayBeDone(error: unknown, onceOnly?: keyof typeof onceOnlyFields): error is StatusError {
  if (!(error instanceof StatusError) || error.isRead) return false;
  const { status, details } = error;
  if (isConflict(error)) return onceOnly !== undefined || !otherStates.includes(details.code);
  if (isNotFound(error)) return onceOnly === 'quote';
  if (onceOnly === undefined || (status !== 400 && status !== 422)) return false;
  const namesOnlyIt = details.fields.every(({ path }) => onceOnlyFields[onceOnly].test(path));
  return namesOnlyIt && (status === 422 || details.fields.length > 0);
}

/**
 * Runs the search for the record of a POST that REST refused, as `mayBeDone` says.
 * @throws UnclearRefusalError if the search fails: then nothing shows that REST did not do the POST.
 */
export async function searchAfterRefusal<Result>(
  refusal: StatusError,
  search: () => Promise<Result>,
): Promise<Result> {
  try {
    return await search();
  } catch (error) {
    throw error instanceof WaybillError ? new UnclearRefusalError(refusal, error) : error;
  }
}

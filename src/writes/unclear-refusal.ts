import { isConflict, isNotFound, isRejectedInput, StatusError, WaybillError } from '../rest/errors.ts';
import { UnclearRefusalError } from './errors.ts';

/** The fields of a body that only one record can have. Services spell names in their own ways. */
const onceOnlyFields = { quote: /(^|\.)quote(_?id)?$/i, referenceId: /(^|\.)reference_?id$/i } as const;

/** Codes of 409 and 412 that an earlier POST of a message, or of an order without a reference, cannot have caused. */
const foreignStates: readonly (string | undefined)[] = [
  'FAILED_PRECONDITION',
  'STATE',
  'CHANNEL_INACTIVE',
  'ORDER_FINISHED',
];

/**
 * Whether REST may have done a POST that it refused. A proxy may send a POST twice, and pass on the second response. Then
 * the first POST was done, and is the reason why the second one was refused. These refusals can have this reason:
 * - 409 and 412 of a shipment, or of an order with a reference.
 * - 409 and 412 of a message, or of an order without a reference, unless REST's code names another reason.
 * - 404 and 410 of a shipment: the quote was there before, and the first POST may have used it up.
 * - 400 that names the field `onceOnly` and no other, and 422 that names this field alone or no field.
 *
 * All other refusals are about the content or the sender, which both POSTs have in common.
 * @param onceOnly the field of the body that only one record can have; undefined if there is none.
 * @returns false also for the error of a read, because a read is no POST.
 */
export function isUnclearRefusal(
  error: unknown,
  onceOnly?: keyof typeof onceOnlyFields,
): error is StatusError {
  if (!(error instanceof StatusError) || error.isRead) return false;
  const { status, details } = error;
  if (isConflict(error)) return onceOnly !== undefined || !foreignStates.includes(details.code);
  if (isNotFound(error)) return onceOnly === 'quote';
  if (onceOnly === undefined || (status !== 400 && status !== 422)) return false;
  const namesOnlyIt = details.fields.every(({ path }) => onceOnlyFields[onceOnly].test(path));
  return namesOnlyIt && (status === 422 || details.fields.length > 0);
}

/** Whether REST would refuse the same POST again, as far as its status tells. A conflict may pass. */
export function isLastingRefusal(error: unknown): boolean {
  return (isNotFound(error) || isRejectedInput(error)) && !error.isRead;
}

/**
 * Runs the search for the record of a POST with an unclear refusal.
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

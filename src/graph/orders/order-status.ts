import { BadInputError } from '../../rest/errors.ts';
import { openEnum } from '../fields/open-enum.ts';

export const orderStatus = openEnum('OrderStatus', 'The status of an order.', {
  NEW: 'The order is not confirmed yet.',
  CONFIRMED: 'The customer confirmed the order.',
  READY: 'The order is packed and ready to ship.',
  IN_PROGRESS: 'The order is in transit. Set by the REST service.',
  CANCELLED: 'Cancelled.',
  DELIVERED: 'The customer received the order. Set by the REST service.',
  RETURN: 'The order is being returned, or was returned. Set by the REST service.',
});

/** Sorted and without duplicates. An absent or empty list means no filter. @throws BadInputError for UNRECOGNIZED */
export function statusFilter(status: readonly string[] | null | undefined): string[] | undefined {
  if (status?.includes('UNRECOGNIZED')) {
    throw new BadInputError(
      'Expected "status" to name known statuses, but got UNRECOGNIZED, which is for output only.',
    );
  }
  return status === null || status === undefined || status.length === 0
    ? undefined
    : [...new Set(status)].sort();
}

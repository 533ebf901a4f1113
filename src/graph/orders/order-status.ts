import { BadInputError } from '../../rest/errors.ts';
import { openEnum } from '../fields/open-enum.ts';

export const orderStatus = openEnum('OrderStatus', 'How far an order has come.', {
  NEW: 'Recorded, not yet confirmed.',
  CONFIRMED: 'Confirmed with the customer.',
  READY: 'Packed, ready to be shipped.',
  IN_PROGRESS: 'On its way. Set by the service.',
  CANCELLED: 'Called off.',
  DELIVERED: 'Received by the customer. Set by the service.',
  RETURN: 'On its way back, or returned. Set by the service.',
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

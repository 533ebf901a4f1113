import { openEnum } from '../fields/open-enum.ts';

export const orderStatuses = {
  NEW: 'The order is not confirmed yet.',
  CONFIRMED: 'The customer confirmed the order.',
  READY: 'The order is packed and ready to ship.',
  IN_PROGRESS: 'The order is in transit. Set by the REST service.',
  CANCELLED: 'The order is cancelled.',
  DELIVERED: 'The customer received the order. Set by the REST service.',
  RETURN: 'The order is being returned, or was returned. Set by the REST service.',
};

export const orderStatus = openEnum('OrderStatus', 'The status of an order.', orderStatuses);

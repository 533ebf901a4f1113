import { openEnum } from '../fields/open-enum.ts';

export const orderStatuses = {
  NEW: 'The order is not confirmed yet.',
  CONFIRMED: 'The customer confirmed the order.',
  READY: 'The order is packed and ready to ship.',
  IN_PROGRESS: 'The order is in transit. Only the REST service sets this status.',
  CANCELLED: 'The order is cancelled.',
  DELIVERED: 'The customer received the order. Only the REST service sets this status.',
  RETURN: 'The order is being returned, or was returned. Only the REST service sets this status.',
};

export const orderStatus = openEnum('OrderStatus', 'The status of an order.', orderStatuses);

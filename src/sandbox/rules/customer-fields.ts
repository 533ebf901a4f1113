import type { CustomerBehavior, Order } from '../interface/schemas.ts';
import { toCustomerBehavior } from '../seed/customers/customer-behavior.ts';
import type { Merchant } from '../store/merchants.ts';
import { hasPhone, type Store } from '../store/store.ts';

/**
 * Computes the customer fields of an order from the merchant's other orders of the same phone number ("Order").
 * @param order the resource name of the order, which does not count
 */
export function customerBehaviorFor(
  store: Store,
  merchant: Merchant,
  phoneNumber: string,
  order: string,
): Pick<Order, 'customerReliability' | 'customerBehavior'> {
  const list = (path: string) => ({ merchant: merchant.id, path });
  const statuses = store.orders
    .all(list('orders'), hasPhone(phoneNumber))
    .flatMap(({ name, shipment }) => (name === order || shipment === undefined ? [] : [shipment]))
    .map((shipment) => store.shipments.get(list('shipments'), shipment).status);
  const customerBehavior: CustomerBehavior = toCustomerBehavior(statuses);
  return { customerReliability: customerBehavior.reliability, customerBehavior };
}

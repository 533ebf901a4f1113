import type { CustomerBehavior, Order } from '../interface/schemas.ts';
import { customerBehaviorOf } from '../seed/customers/customer-behavior.ts';
import type { Merchant } from '../store/merchants.ts';
import { hasPhone, type Store } from '../store/store.ts';

/** What the merchant's earlier orders of this phone number say, but for the order itself. */
export function customerOf(
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
  const customerBehavior: CustomerBehavior = customerBehaviorOf(statuses);
  return { customerReliability: customerBehavior.reliability, customerBehavior };
}

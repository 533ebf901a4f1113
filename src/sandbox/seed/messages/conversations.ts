import type { Message, Order, Shipment } from '../../interface/schemas.ts';
import type { Calendar } from '../calendar.ts';
import type { Customer } from '../customers/customers.ts';
import type { MerchantProfile } from '../merchants/merchant-profile.ts';
import type { OrderDraft } from '../orders/order-drafts.ts';
import type { OrderRecords } from '../orders/order-records.ts';
import type { Random } from '../random.ts';
import { createMessages } from './messages.ts';

/** A conversation with its messages. */
export interface ConversationSeed {
  /** `channels/<channel_id>/conversations/<conversation_id>` */
  name: string;
  phone: string;
  recipientName: string;
  /** Newest first. */
  messages: Message[];
}

/**
 * Generates a merchant's conversations with customers who have orders, newest first. Numbers count from the oldest
 * conversation. The oldest conversations are on the last channel.
 */
export function createConversations(
  profile: MerchantProfile,
  drafts: readonly OrderDraft[],
  orderRecords: OrderRecords,
  customers: readonly Customer[],
  calendar: Calendar,
  random: Random,
): ConversationSeed[] {
  const purchases = purchasesByCustomer(drafts, orderRecords);
  const { count, customers: scriptedCustomers } = profile.conversations;
  const scriptedIndexes = Object.values(scriptedCustomers);
  const others = customers.filter(
    (customer, index) => purchases.has(customer) && !scriptedIndexes.includes(index),
  );
  return Array.from({ length: count }, (_, index) => {
    const number = count - index;
    const customer = customers[scriptedCustomers[number] ?? -1] ?? others[index];
    const lastDaysOld = index * 2;
    const purchase = customer && purchaseToMention(purchases.get(customer) ?? [], lastDaysOld);
    if (!purchase) throw new RangeError(`Conversation ${number} has no customer who ordered something`);
    const topic = { ...purchase, firstName: customer.firstName, tradeName: profile.tradeName };
    const channel = channelOf(profile, number);
    const name = `channels/${profile.prefix}${channel + 1}/conversations/${profile.prefix}${number}`;
    return {
      name,
      phone: customer.phoneNumber,
      recipientName: `${customer.firstName} ${customer.lastName}`,
      messages: createMessages({ name, number, channel, topic, lastDaysOld }, profile, calendar, random),
    };
  });
}

/** The index of the channel of a conversation. */
function channelOf({ channels, conversations }: MerchantProfile, number: number): number {
  const last = channels.length - 1;
  if (number <= Math.ceil(conversations.count / 15)) return last;
  return last > 1 && number % 4 === 3 ? 1 : 0;
}

interface CustomerPurchase {
  daysOld: number;
  order: Order;
  shipment: Shipment | undefined;
}

function purchasesByCustomer(
  drafts: readonly OrderDraft[],
  { orders, shipments }: OrderRecords,
): Map<Customer, CustomerPurchase[]> {
  const byName = new Map(shipments.map((shipment) => [shipment.name, shipment]));
  const purchases = new Map<Customer, CustomerPurchase[]>();
  for (const [index, { customer, created }] of drafts.entries()) {
    const order = orders[index];
    if (!order) continue;
    const list = purchases.get(customer) ?? [];
    list.push({ daysOld: created.daysOld, order, shipment: byName.get(order.shipment ?? '') });
    purchases.set(customer, list);
  }
  return purchases;
}

/** The newest purchase shipped before the end of the conversation, or else any purchase. */
function purchaseToMention(
  purchases: readonly CustomerPurchase[],
  lastDaysOld: number,
): CustomerPurchase | undefined {
  const past = purchases.filter(({ daysOld }) => daysOld > lastDaysOld);
  return past.find(({ shipment }) => shipment) ?? past[0] ?? purchases[0];
}

import type { Message, Order, Shipment } from '../schemas.ts';
import type { Calendar, Moment } from './calendar.ts';
import type { Customer } from './customers.ts';
import type { MerchantProfile } from './merchant-profile.ts';
import { messageTexts } from './message-texts.ts';
import type { OrderDraft } from './order-drafts.ts';
import type { Random } from './random.ts';
import { sendTemplate, type Topic } from './sent-templates.ts';
import { type TemplateBlueprint, templateBlueprints } from './template-blueprints.ts';
import type { Trade } from './trade.ts';

export interface ConversationSeed {
  /** `channels/<channel_id>/conversations/<conversation_id>` */
  name: string;
  phone: string;
  recipientName: string;
  /** Newest first. */
  messages: Message[];
}

/** Was sent, and deleted from the channel since. */
const deletedTemplate: TemplateBlueprint = {
  name: 'feria_del_hogar',
  language: 'es',
  category: 'MARKETING',
  header: { text: 'Feria del hogar', parameters: {} },
  body: {
    text: '{{customer_name}}, te esperamos hasta el {{day}}.',
    parameters: { customer_name: 'FIRST_NAME', day: 'DAY' },
  },
  buttons: [],
};

/**
 * Makes up a merchant's conversations with customers who ordered something, the most recent first. They are numbered
 * from the oldest, and the last channel, where it is closed, has the oldest ones.
 */
export function createConversations(
  profile: MerchantProfile,
  drafts: readonly OrderDraft[],
  trade: Trade,
  customers: readonly Customer[],
  calendar: Calendar,
  random: Random,
): ConversationSeed[] {
  const purchases = purchasesByCustomer(drafts, trade);
  const { count, customers: known } = profile.conversations;
  const reserved = Object.values(known);
  const others = customers.filter((customer, index) => purchases.has(customer) && !reserved.includes(index));
  return Array.from({ length: count }, (_, index) => {
    const number = count - index;
    const customer = customers[known[number] ?? -1] ?? others[index];
    const lastDaysOld = index * 2;
    const purchase = customer && purchaseToSpeakOf(purchases.get(customer) ?? [], lastDaysOld);
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

/** The index of the channel that a conversation is on. */
function channelOf({ channels, conversations }: MerchantProfile, number: number): number {
  const last = channels.length - 1;
  if (number <= Math.ceil(conversations.count / 15)) return last;
  return last > 1 && number % 4 === 3 ? 1 : 0;
}

interface Conversation {
  name: string;
  number: number;
  /** Index of the channel. */
  channel: number;
  topic: Topic;
  lastDaysOld: number;
}

function createMessages(
  { name, number, channel, topic, lastDaysOld }: Conversation,
  profile: MerchantProfile,
  calendar: Calendar,
  random: Random,
): Message[] {
  const { lengths, showcase, withDeletedTemplate } = profile.conversations;
  const chosen = random.weighted([
    [random.integer(1, 6), 5],
    [random.integer(7, 30), 4],
    [random.integer(31, 90), 1],
  ]);
  const length = lengths[number] ?? chosen;
  const offered = templateBlueprints.slice(0, profile.channels[channel]?.templates);
  const language = random.chance(0.9) ? 'es' : 'en';
  const usual = offered.filter((blueprint) => blueprint.language === language);
  return messageMoments(lastDaysOld, length, random).map((moment, index): Message => {
    const position = length - 1 - index;
    const inTurn = number === showcase ? offered[position / 2] : undefined;
    const deleted = position === 1 && withDeletedTemplate.includes(number) ? deletedTemplate : undefined;
    const head = {
      name: `${name}/messages/m${String(position + 1).padStart(3, '0')}`,
      createTime: calendar.iso(moment),
      status: statusOf(moment, index, random),
    };
    const text = random.pick(messageTexts).replaceAll('{name}', topic.firstName);
    const template = sendTemplate(deleted ?? inTurn ?? random.pick(usual), topic, random);
    // A shop may only open a conversation with a template.
    const templated = position === 0 || deleted || inTurn || (random.chance(0.2) && number !== showcase);
    return templated
      ? { ...head, contentType: 'TEMPLATE', template }
      : { ...head, contentType: 'TEXT', text };
  });
}

/** Newest first: a few messages a day, on days that go back from the last one. */
function messageMoments(lastDaysOld: number, length: number, random: Random): Moment[] {
  let daysOld = lastDaysOld;
  let fraction = 0.95;
  return Array.from({ length }, (): Moment => {
    fraction -= random.fraction() * 0.12;
    if (fraction < 0.05) {
      daysOld += random.integer(1, 5);
      fraction = 0.95 - random.fraction() * 0.3;
    }
    return { daysOld, fraction };
  });
}

function statusOf({ daysOld }: Moment, index: number, random: Random): Message['status'] {
  const chosen = random.weighted<Message['status']>([
    ['READ', 74],
    ['DELIVERED', 16],
    ['SENT', 5],
    ['FAILED', 5],
  ]);
  return daysOld === 0 && index < 2 ? (index === 0 ? 'SENDING' : 'SENT') : chosen;
}

interface CustomerPurchase {
  daysOld: number;
  order: Order;
  shipment: Shipment | undefined;
}

function purchasesByCustomer(
  drafts: readonly OrderDraft[],
  { orders, shipments }: Trade,
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

/** The newest that was shipped by the end of the conversation, or else any. */
function purchaseToSpeakOf(
  purchases: readonly CustomerPurchase[],
  lastDaysOld: number,
): CustomerPurchase | undefined {
  const past = purchases.filter(({ daysOld }) => daysOld > lastDaysOld);
  return past.find(({ shipment }) => shipment) ?? past[0] ?? purchases[0];
}

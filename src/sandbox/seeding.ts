import { messageDueAt, shipmentDueAt } from './rules/due-transitions.ts';
import type { ChannelSeed, MerchantSeed, Seed } from './seed/seed.ts';
import type { List } from './store/collection.ts';
import type { Merchant } from './store/merchants.ts';
import { type Store, sharedLocations } from './store/store.ts';

/** Seeded shipments and messages keep their status for at least this long, so that a person can look at them. */
const quietMs = 10 * 60_000;

/** Writes the seed into the store. Lists of the seed are newest first; records are written oldest first. */
export function writeSeed(store: Store, seed: Seed, now: Date): void {
  for (const location of seed.locations.toReversed()) store.locations.insert(sharedLocations, location);
  for (const merchantSeed of seed.merchants) writeMerchant(store, merchantSeed, now);
}

function writeMerchant(store: Store, seed: MerchantSeed, now: Date): void {
  const merchant = store.merchants.add(seed.token, seed.organization);
  const list = (path: string): List => ({ merchant: merchant.id, path });
  for (const origin of seed.origins.toReversed()) store.origins.insert(list('origins'), origin);
  for (const order of seed.orders.toReversed()) store.orders.insert(list('orders'), order);
  for (const quote of seed.quotes.toReversed()) store.quotes.insert(list('quotes'), quote);
  for (const shipment of seed.shipments.toReversed()) {
    const due = shipmentDueAt(shipment, new Date(shipment.updateTime));
    store.shipments.insert(list('shipments'), shipment, dueAfterQuietPeriod(now, due));
  }
  for (const channel of seed.channels.toReversed()) writeChannel(store, merchant, channel, now);
}

function writeChannel(store: Store, merchant: Merchant, seed: ChannelSeed, now: Date): void {
  const { name } = seed.channel;
  const list = (path: string): List => ({ merchant: merchant.id, path });
  store.channels.insert(list('channels'), seed.channel);
  for (const template of seed.templates.toReversed()) {
    store.templates.insert(list(`${name}/templates`), template);
  }
  for (const { messages, ...conversation } of seed.conversations.toReversed()) {
    store.conversations.insert(list(`${name}/conversations`), conversation);
    for (const message of messages.toReversed()) {
      const due = messageDueAt(message, new Date(message.createTime));
      store.messages.insert(list(`${conversation.name}/messages`), message, dueAfterQuietPeriod(now, due));
    }
  }
}

function dueAfterQuietPeriod(now: Date, due: number | undefined): number | undefined {
  return due === undefined ? undefined : Math.max(due, now.getTime() + quietMs);
}

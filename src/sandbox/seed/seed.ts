import type {
  Channel,
  Location,
  Order,
  Organization,
  Origin,
  Quote,
  Shipment,
  Template,
} from '../interface/schemas.ts';
import { createLocations } from '../places/locations.ts';
import { type Calendar, createCalendar } from './calendar.ts';
import { createCustomers } from './customers/customers.ts';
import { type Atlas, createAtlas } from './customers/homes.ts';
import { cafeAndino } from './merchants/cafe-andino.ts';
import type { MerchantProfile } from './merchants/merchant-profile.ts';
import { surTextil } from './merchants/sur-textil.ts';
import { type ConversationSeed, createConversations } from './messages/conversations.ts';
import { writeTemplate } from './messages/sent-templates.ts';
import { templateBlueprints } from './messages/template-blueprints.ts';
import { draftOrders } from './orders/order-drafts.ts';
import { writeTrade } from './orders/trade.ts';
import { createRandom } from './random.ts';

export type { ConversationSeed } from './messages/conversations.ts';

/** All that the sandbox starts with. Every list is newest first. */
export interface Seed {
  /** Shared by the merchants. */
  locations: Location[];
  merchants: MerchantSeed[];
}

export interface MerchantSeed {
  /** The bearer token that stands for the merchant. */
  token: string;
  organization: Organization;
  origins: Origin[];
  orders: Order[];
  quotes: Quote[];
  /** Without `labelUrl`, which is signed anew whenever a shipment is served. */
  shipments: Shipment[];
  channels: ChannelSeed[];
}

export interface ChannelSeed {
  channel: Channel;
  templates: Template[];
  conversations: ConversationSeed[];
}

/**
 * Makes up two merchants' lives until `now`. The same `now` gives the same seed, byte for byte; another `now` gives
 * other times and nothing else.
 */
export function createSeed(now: Date): Seed {
  const locations = createLocations();
  const calendar = createCalendar(now);
  const atlas = createAtlas(locations);
  return {
    locations,
    merchants: [cafeAndino, surTextil].map((profile) => createMerchant(profile, locations, atlas, calendar)),
  };
}

function createMerchant(
  profile: MerchantProfile,
  locations: readonly Location[],
  atlas: Atlas,
  calendar: Calendar,
): MerchantSeed {
  const random = createRandom(profile.seed);
  const byName = new Map(locations.map((location) => [location.name, location]));
  const customers = createCustomers(profile.customers.count, profile.customers, atlas, random);
  const drafts = draftOrders(profile, customers, byName, random);
  const trade = writeTrade(profile, drafts, calendar);
  const conversations = createConversations(profile, drafts, trade, customers, calendar, random);
  return {
    token: profile.token,
    organization: profile.organization,
    origins: profile.origins.map((origin, index) => writeOrigin(profile, origin, index, byName)),
    ...trade,
    channels: profile.channels.map(({ active, phoneNumber, templates }, index) => {
      const name = `channels/${profile.prefix}${index + 1}`;
      return {
        channel: { name, type: 'chat', active, chatApp: { phoneNumber } },
        templates: templateBlueprints.slice(0, templates).map(writeTemplate),
        conversations: conversations.filter((conversation) => conversation.name.startsWith(`${name}/`)),
      };
    }),
  };
}

function writeOrigin(
  { prefix, tradeName }: MerchantProfile,
  { location, addressLines }: MerchantProfile['origins'][number],
  index: number,
  locations: ReadonlyMap<string, Location>,
): Origin {
  const place = locations.get(location);
  if (!place) throw new RangeError(`There is no ${location}`);
  return {
    name: `origins/${prefix}${index + 1}`,
    location,
    address: { ...place.address, addressLines, organization: tradeName },
  };
}

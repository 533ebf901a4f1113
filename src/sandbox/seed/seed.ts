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
import { type AddressGenerator, createAddressGenerator } from './customers/delivery-addresses.ts';
import { cafeAndino } from './merchants/cafe-andino.ts';
import type { MerchantProfile } from './merchants/merchant-profile.ts';
import { surTextil } from './merchants/sur-textil.ts';
import { type ConversationSeed, createConversations } from './messages/conversations.ts';
import { writeTemplate } from './messages/sent-templates.ts';
import { templateBlueprints } from './messages/template-blueprints.ts';
import { draftOrders } from './orders/order-drafts.ts';
import { writeOrderRecords } from './orders/order-records.ts';
import { createRandom } from './random.ts';

export type { ConversationSeed } from './messages/conversations.ts';

/** The initial data of a sandbox. Every list is newest first. */
export interface Seed {
  /** Locations, which all merchants share. */
  locations: Location[];
  merchants: MerchantSeed[];
}

/** The initial data of one merchant. */
export interface MerchantSeed {
  /** The first bearer token of the merchant. The sandbox issues the others. */
  token: string;
  organization: Organization;
  origins: Origin[];
  orders: Order[];
  quotes: Quote[];
  /** Without `labelUrl`, because every response signs a new one. */
  shipments: Shipment[];
  channels: ChannelSeed[];
}

/** A channel with its templates and conversations. */
export interface ChannelSeed {
  channel: Channel;
  templates: Template[];
  conversations: ConversationSeed[];
}

/**
 * Generates the data of two merchants up to `now`. The same `now` gives exactly the same seed. Another `now` changes
 * only the timestamps.
 */
export function createSeed(now: Date): Seed {
  const locations = createLocations();
  const calendar = createCalendar(now);
  const addressGenerator = createAddressGenerator(locations);
  return {
    locations,
    merchants: [cafeAndino, surTextil].map((profile) =>
      createMerchant(profile, locations, addressGenerator, calendar),
    ),
  };
}

function createMerchant(
  profile: MerchantProfile,
  locations: readonly Location[],
  addressGenerator: AddressGenerator,
  calendar: Calendar,
): MerchantSeed {
  const random = createRandom(profile.seed);
  const byName = new Map(locations.map((location) => [location.name, location]));
  const customers = createCustomers(profile.customers.count, profile.customers, addressGenerator, random);
  const drafts = draftOrders(profile, customers, byName, random);
  const orderRecords = writeOrderRecords(profile, drafts, calendar);
  const conversations = createConversations(profile, drafts, orderRecords, customers, calendar, random);
  return {
    token: profile.token,
    organization: profile.organization,
    origins: profile.origins.map((origin, index) => writeOrigin(profile, origin, index, byName)),
    ...orderRecords,
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

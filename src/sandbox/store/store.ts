import type { Quirks } from '../faults/quirks.ts';
import { fold, trigramQuery } from '../interface/names.ts';
import type {
  Channel,
  Location,
  Message,
  Order,
  Origin,
  Quote,
  Shipment,
  Template,
} from '../interface/schemas.ts';
import { type Collection, createCollection, type Filter, type List } from './collection.ts';
import type { Database } from './database.ts';
import { identifierAs } from './identifiers.ts';
import { createMerchants, type Merchants } from './merchants.ts';
import { createSignatures, type Signatures } from './signatures.ts';

/** A talk with one phone number through one channel. The REST interface shows no more of it than its name. */
export interface Conversation {
  name: string;
  phone: string;
  recipientName: string;
}

/** All that the sandbox knows. */
export interface Store {
  database: Database;
  signatures: Signatures;
  merchants: Merchants;
  locations: Collection<Location>;
  origins: Collection<Origin>;
  orders: Collection<Order>;
  quotes: Collection<Quote>;
  shipments: Collection<Shipment>;
  channels: Collection<Channel>;
  templates: Collection<Template>;
  conversations: Collection<Conversation>;
  messages: Collection<Message>;
  /** The identifier for a new record of the list: the prefix and the next number, of `width` digits at least. */
  nextIdentifier(list: List, form: Quirks['identifiers'], prefix: string, width: number): string;
}

/** Locations are shared by all merchants. */
export const sharedLocations: List = { merchant: '', path: 'locations' };

export function createStore(database: Database): Store {
  const signatures = createSignatures(database.secret);
  const collection = <Item>(indexOf: Parameters<typeof createCollection<Item>>[2]) =>
    createCollection(database, signatures, indexOf);
  const byName = ({ name }: { name: string }) => ({ key: name });
  return {
    database,
    signatures,
    merchants: createMerchants(database),
    locations: collection<Location>((location) => ({ key: location.name, words: searchTextOf(location) })),
    origins: collection<Origin>(byName),
    orders: collection<Order>(({ name, status, recipient, referenceId }) => ({
      key: name,
      status,
      phone: phoneKey(recipient.phoneNumber),
      reference: referenceId,
      name: `${recipient.firstName} ${recipient.lastName}`,
    })),
    quotes: collection<Quote>(byName),
    shipments: collection<Shipment>(({ name, status }) => ({ key: name, status })),
    channels: collection<Channel>(byName),
    templates: collection<Template>(({ name, language }) => ({ key: templateKey(name, language) })),
    conversations: collection<Conversation>(({ name, phone }) => ({ key: name, phone: phoneKey(phone) })),
    messages: collection<Message>(({ name, status }) => ({ key: name, status })),
    nextIdentifier({ merchant, path }, form, prefix, width) {
      // The number of a key is at its end, in each form.
      const [row] = database.all(
        `SELECT max(CAST(substr(key, length(rtrim(key, '0123456789')) + 1) AS INTEGER)) AS last
         FROM records WHERE merchant = ? AND path = ?`,
        merchant,
        path,
      );
      return identifierAs(form, prefix + String(Number(row?.last ?? 0) + 1).padStart(width, '0'));
    },
  };
}

/** A template is told by its name and its language together. */
export function templateKey(name: string, language: string): string {
  return JSON.stringify([name, language]);
}

/** The same phone number, however its digits are grouped. */
function phoneKey(phone: string): string {
  return phone.replace(/\D/g, '');
}

export function hasPhone(phone: string): Filter {
  return { sql: 'phone = ?', values: [phoneKey(phone)] };
}

export function hasStatus(statuses: readonly string[]): Filter {
  return { sql: 'status IN (SELECT value FROM json_each(?))', values: [JSON.stringify(statuses)] };
}

/** Like the name of the recipient, or exactly the phone number or the reference. */
export function hasNameLikeOrPhoneOrReference(text: string): Filter {
  const trigrams = trigramQuery(text);
  const phone = /^\+?[\d ()-]+$/.test(text) ? phoneKey(text) : '';
  const exact = { sql: 'phone = ? OR reference = ?', values: [phone, text] };
  if (trigrams === undefined) return exact;
  return {
    sql: `${exact.sql} OR sequence IN (SELECT rowid FROM names WHERE names MATCH ? AND resembles(name, ?))`,
    values: [...exact.values, trigrams, text],
  };
}

/** Holds the text in its name or its address. */
export function holdsText(text: string): Filter {
  return { sql: 'instr(words, ?) > 0', values: [fold(text)] };
}

function searchTextOf({ name, address }: Location): string {
  const { locality, administrativeArea, regionCode } = address;
  return fold(`${name}\n${locality}, ${administrativeArea}, ${regionCode}`);
}

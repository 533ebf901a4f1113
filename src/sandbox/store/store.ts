import type { Quirks } from '../faults/quirks.ts';
import { fold, trigramQuery } from '../interface/name-search.ts';
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
import {
  type Collection,
  createCollection,
  type Filter,
  type List,
  type Page,
  type PageRequest,
} from './collection.ts';
import type { Database } from './database.ts';
import { formatIdentifier } from './identifiers.ts';
import { createMerchants, type Merchants } from './merchants.ts';
import { type ListIdentity, readPageToken, writePageToken } from './page-token.ts';
import { createSignatures, type Signatures } from './signatures.ts';

/** The messages to one phone number through one channel. The REST interface shows only its name. */
export interface Conversation {
  name: string;
  phone: string;
  recipientName: string;
}

/** All data of the sandbox. */
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
  /** A page of a list of constants. `oldestFirst` turns their order. @throws ServiceError like `Collection.page` */
  pageOfConstants<Item>(list: List, rows: readonly Item[], request: PageRequest): Page<Item>;
  /** Makes an identifier for a new record: the prefix and the next number, padded to `width` digits. */
  nextIdentifier(list: List, form: Quirks['identifiers'], prefix: string, width: number): string;
}

/** The list of locations, which all merchants share. */
export const sharedLocations: List = { merchant: '', path: 'locations' };

/** Creates the collections of all resource types over a database. */
export function createStore(database: Database): Store {
  const signatures = createSignatures(database.secret);
  const collection = <Item>(indexedFieldsOf: Parameters<typeof createCollection<Item>>[2]) =>
    createCollection(database, signatures, indexedFieldsOf);
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
      phone: normalizedPhone(recipient.phoneNumber),
      reference: referenceId,
      name: `${recipient.firstName} ${recipient.lastName}`,
    })),
    quotes: collection<Quote>(byName),
    shipments: collection<Shipment>(({ name, status }) => ({ key: name, status })),
    channels: collection<Channel>(byName),
    templates: collection<Template>(({ name, language }) => ({ key: templateKey(name, language) })),
    conversations: collection<Conversation>(({ name, phone }) => ({
      key: name,
      phone: normalizedPhone(phone),
    })),
    messages: collection<Message>(({ name, status }) => ({ key: name, status })),
    pageOfConstants({ merchant, path }, rows, { pageSize, pageToken, oldestFirst }) {
      const identity: ListIdentity = [merchant, path, '', oldestFirst ? 'ASC' : 'DESC'];
      const start = pageToken === undefined ? 0 : readPageToken(signatures, identity, pageToken);
      const end = start + pageSize;
      return {
        items: (oldestFirst ? rows.toReversed() : rows).slice(start, end),
        nextPageToken: end < rows.length ? writePageToken(signatures, identity, end) : '',
      };
    },
    nextIdentifier({ merchant, path }, form, prefix, width) {
      // Identifiers end with their number in both forms.
      const [row] = database.all(
        `SELECT max(CAST(substr(key, length(rtrim(key, '0123456789')) + 1) AS INTEGER)) AS last
         FROM records WHERE merchant = ? AND path = ?`,
        merchant,
        path,
      );
      return formatIdentifier(form, prefix + String(Number(row?.last ?? 0) + 1).padStart(width, '0'));
    },
  };
}

/** The key of a template: its name and its language. */
export function templateKey(name: string, language: string): string {
  return JSON.stringify([name, language]);
}

/** The digits of a phone number, without `+`, spaces and other separators. */
function normalizedPhone(phone: string): string {
  return phone.replace(/\D/g, '');
}

/** Matches records with a phone number, however its digits are grouped. */
export function hasPhone(phone: string): Filter {
  return { sql: 'phone = ?', values: [normalizedPhone(phone)] };
}

/** Matches records with one of the statuses. */
export function hasStatus(statuses: readonly string[]): Filter {
  return { sql: 'status IN (SELECT value FROM json_each(?))', values: [JSON.stringify(statuses)] };
}

/** Matches a similar recipient name, or exactly the phone number or the reference ("List query parameters"). */
export function matchesSearch(text: string): Filter {
  const trigrams = trigramQuery(text);
  const phone = /^\+?[\d ()-]+$/.test(text) ? normalizedPhone(text) : '';
  const exact = { sql: 'phone = ? OR reference = ?', values: [phone, text] };
  if (trigrams === undefined) return exact;
  return {
    sql: `${exact.sql} OR sequence IN (SELECT rowid FROM names WHERE names MATCH ? AND resembles(name, ?))`,
    values: [...exact.values, trigrams, text],
  };
}

/** Matches locations whose name or address contains the text ("List query parameters"). */
export function containsText(text: string): Filter {
  return { sql: 'instr(words, ?) > 0', values: [fold(text)] };
}

function searchTextOf({ name, address }: Location): string {
  const { locality, administrativeArea, regionCode } = address;
  return fold(`${name}\n${locality}, ${administrativeArea}, ${regionCode}`);
}

import { isJsonObject } from '../base/json-object.ts';
import { messageConversation } from './conversation-name.ts';
import type { Collection } from './resource-name.ts';
import type { ResourceKind, WireRecord } from './wire-schema.ts';

/** The collection of a name, or null for an identifier of another kind. */
type NameOf = Collection | null;

/**
 * The names that the response to a write repeats from the request, by their fields ("Resources and their fields"). They
 * show whether a request got the response to another one. A message repeats the names of the path, in its own name. Texts
 * and numbers are not compared.
 */
const repeatedNames: { readonly [Kind in ResourceKind]?: Readonly<Record<string, NameOf>> } = {
  orders: { referenceId: null },
  quotes: { order: 'orders', origin: 'locations', destination: 'locations' },
  shipments: { quote: 'quotes', courier: 'couriers', origin: 'origins' },
  messages: { channel: 'channels', conversation: null },
};

/**
 * Compares the record in the response to a write with the request. The record is foreign if it has another name than the
 * request. A name that the response omits, also as null or as an empty text, is no difference. Neither is a name without
 * its collection. But a name where the request has none is one: REST could not know, for example, the order of a quote.
 * @param asked the request: an object with the names of the table.
 * @returns the field of the first other name, or undefined if the record belongs to the request.
 */
export function findForeignName<Kind extends ResourceKind>(
  kind: Kind,
  asked: object,
  record: WireRecord<Kind>,
): string | undefined {
  // All messages have names of this form (resource-client.ts).
  const answered = kind === 'messages' ? messageConversation(record.name) : record;
  const names = Object.entries<NameOf>(repeatedNames[kind] ?? {});
  const foreign = names.find(([field, collection]) => {
    const [sent, received] = [valueAt(asked, field), valueAt(answered, field)];
    // Create Message by Phone does not name the conversation.
    const isChosenByRest = kind === 'messages' && sent === undefined;
    if (isOmitted(received) || isChosenByRest) return false;
    return !isSameName(collection, sent, received);
  });
  return foreign?.[0];
}

/** Whether two names from requests or REST name the same record of `collection`, with the collection or without. */
export function isSameName(collection: NameOf, one: unknown, other: unknown): boolean {
  const identifier = toIdentifier(collection, one);
  return identifier !== undefined && identifier === toIdentifier(collection, other);
}

/** REST may send an identifier of digits as a number, and may remove the spaces around an identifier. */
function toIdentifier(collection: NameOf, name: unknown): string | undefined {
  if (isOmitted(name) || (typeof name !== 'string' && typeof name !== 'number')) return undefined;
  const text = String(name).trim();
  return collection !== null && text.startsWith(`${collection}/`) ? text.slice(collection.length + 1) : text;
}

function isOmitted(name: unknown): boolean {
  return name === undefined || name === null || name === '';
}

function valueAt(value: unknown, field: string): unknown {
  return isJsonObject(value) ? value[field] : undefined;
}

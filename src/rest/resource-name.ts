import { quoteForMessage } from '../base/quote-for-message.ts';
import { BadInputError } from './errors.ts';
import { type namedOtherwise, type ResourceKind, wireSchemas } from './wire-schema.ts';

/**
 * The collections whose names have the form `<collection>/<identifier>` ("What the service does", Conventions). Kinds
 * of records with names of other forms are left out. Couriers are added: they have such a name, but no record.
 */
export type Collection = Exclude<ResourceKind, keyof typeof namedOtherwise> | 'couriers';

/** A resource name: `<collection>/<identifier>`. */
export type ResourceName<C extends Collection = Collection> = `${C}/${string}`;

const maxIdentifierLength = 256;
// The interface does not define the allowed characters. ".", ".." or a slash would change the path of the request.
// Half of a surrogate pair cannot be encoded.
const identifierPattern = '(?!\\.{1,2}$)[^/\\p{Cc}\\p{Cs}]+';
const identifier = new RegExp(`^${identifierPattern}$`, 'u');

const identifierRule =
  'an identifier is 1 to 256 characters, none a slash or a control character, and not "." or ".."';

/**
 * The resource name for an id from a client. The id is a resource name or a bare identifier.
 * @throws BadInputError if `id` is neither, or is the name of another collection.
 */
export function resourceName<C extends Collection>(collection: C, id: string): ResourceName<C> {
  if (isNameOf(collection, id)) return id;
  const slash = id.indexOf('/');
  if (slash !== -1 && id.slice(0, slash) !== collection) {
    throw new BadInputError(
      `Expected the id of one of ${collection}, "${collection}/<identifier>", but got ${quoteForMessage(id)}.`,
    );
  }
  const bare = id.slice(slash + 1);
  if (!isIdentifier(bare)) {
    throw new BadInputError(
      `Expected an id of ${collection}, but got ${quoteForMessage(id)}: ${identifierRule}.`,
    );
  }
  return `${collection}/${bare}`;
}

/** The bare identifier for an id from a client. @throws BadInputError like `resourceName`. */
export function bareIdentifier(collection: Collection, id: string): string {
  return resourceName(collection, id).slice(collection.length + 1);
}

/** The path of a record. */
export function recordPath<C extends Collection>(collection: C, name: ResourceName<C>): string {
  return `/v1/${collection}/${encodeURIComponent(name.slice(collection.length + 1))}`;
}

/** The pattern of the names of each collection. Compiled once, because every row of a list is checked. */
const namePatterns = Object.fromEntries(
  [...Object.keys(wireSchemas), 'couriers'].map((collection) => [
    collection,
    new RegExp(`^${collection}/${identifierPattern}$`, 'u'),
  ]),
) as Record<Collection, RegExp>;

/** Whether a value is a resource name of `collection`. The value may come from REST or from a client. */
export function isNameOf<C extends Collection>(collection: C, value: unknown): value is ResourceName<C> {
  return (
    typeof value === 'string' &&
    isShortEnough(value, collection.length + 1 + maxIdentifierLength) &&
    namePatterns[collection].test(value)
  );
}

function isIdentifier(text: string): boolean {
  return isShortEnough(text, maxIdentifierLength) && identifier.test(text);
}

/** Counts Unicode characters instead of UTF-16 units. Counts only texts whose UTF-16 length does not decide. */
function isShortEnough(text: string, maxLength: number): boolean {
  return text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);
}

/** The identifier of a conversation within its channel. @throws BadInputError if `id` is no identifier. */
export function conversationIdentifier(id: string): string {
  if (isIdentifier(id)) return id;
  throw new BadInputError(
    `Expected the id of a conversation, but got ${quoteForMessage(id)}: ${identifierRule}.`,
  );
}

/** The parsed name of a conversation: `channels/<id>/conversations/<id>`. */
export interface ConversationName {
  name: string;
  channel: ResourceName<'channels'>;
  /** The bare identifier within the channel. */
  conversation: string;
}

/** Parses the name of a conversation. @returns undefined if `name` is no such name. */
export function conversationName(name: string): ConversationName | undefined {
  const [channels, channel = '', conversations, conversation = '', ...rest] = name.split('/');
  const isValid =
    channels === 'channels' &&
    conversations === 'conversations' &&
    isIdentifier(channel) &&
    isIdentifier(conversation) &&
    rest.length === 0;
  return isValid ? { name, channel: `channels/${channel}`, conversation } : undefined;
}

/** The conversation in the name of a message: `channels/<id>/conversations/<id>/messages/<id>`. */
export function conversationOfMessage(message: string): ConversationName | undefined {
  return conversationName(message.split('/').slice(0, 4).join('/'));
}

/** Whether a text is the name of a message: `channels/<id>/conversations/<id>/messages/<id>`. */
export function isMessageName(name: string): boolean {
  const [messages, message = '', ...rest] = name.split('/').slice(4);
  const hasMessagePart = messages === 'messages' && isIdentifier(message) && rest.length === 0;
  return hasMessagePart && conversationOfMessage(name) !== undefined;
}

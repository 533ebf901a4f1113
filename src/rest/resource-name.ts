import { BadInputError } from './errors.ts';

/** The collections whose names have the form `<collection>/<identifier>` (the interface's "Conventions"). */
export type Collection =
  | 'orders'
  | 'shipments'
  | 'quotes'
  | 'origins'
  | 'locations'
  | 'organization'
  | 'channels'
  | 'couriers';

export type ResourceName<C extends Collection = Collection> = `${C}/${string}`;

const maxIdentifierLength = 256;
// The interface names no alphabet. "." and ".." would lead to another path, and so would a slash; half of a surrogate pair
// can't be sent.
const identifierPattern = '(?!\\.{1,2}$)[^/\\p{Cc}\\p{Cs}]+';
const identifier = new RegExp(`^${identifierPattern}$`, 'u');

const identifierRule =
  'an identifier is 1 to 256 characters, none a slash or a control character, and not "." or ".."';

/**
 * The resource name that a client means, given whole or as the bare identifier.
 * @throws BadInputError when it is neither, or is the name of another collection.
 */
export function resourceName<C extends Collection>(collection: C, id: string): ResourceName<C> {
  if (isNameOf(collection, id)) return id;
  const slash = id.indexOf('/');
  if (slash !== -1 && id.slice(0, slash) !== collection) {
    throw new BadInputError(
      `Expected the id of one of ${collection}, "${collection}/<identifier>", but got ${shown(id)}.`,
    );
  }
  const bare = id.slice(slash + 1);
  if (!isIdentifier(bare)) {
    throw new BadInputError(`Expected an id of ${collection}, but got ${shown(id)}: ${identifierRule}.`);
  }
  return `${collection}/${bare}`;
}

/** The bare identifier of a name of `collection`. @throws BadInputError as `resourceName` does. */
export function bareIdentifier(collection: Collection, id: string): string {
  return resourceName(collection, id).slice(collection.length + 1);
}

const nameOf = (collection: Collection) => new RegExp(`^${collection}/${identifierPattern}$`, 'u');

// Each row of a list is held against one.
const names: Record<Collection, RegExp> = {
  orders: nameOf('orders'),
  shipments: nameOf('shipments'),
  quotes: nameOf('quotes'),
  origins: nameOf('origins'),
  locations: nameOf('locations'),
  organization: nameOf('organization'),
  channels: nameOf('channels'),
  couriers: nameOf('couriers'),
};

/** Whether a value, from REST or a client, is a whole name of `collection`. */
export function isNameOf<C extends Collection>(collection: C, value: unknown): value is ResourceName<C> {
  return (
    typeof value === 'string' &&
    isShortEnough(value, collection.length + 1 + maxIdentifierLength) &&
    names[collection].test(value)
  );
}

function isIdentifier(text: string): boolean {
  return isShortEnough(text, maxIdentifierLength) && identifier.test(text);
}

/** Counts characters as people do, where the units of UTF-16 leave that open. */
function isShortEnough(text: string, maxLength: number): boolean {
  return text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength);
}

/** A conversation's own identifier. @throws BadInputError where it is not of an identifier's form. */
export function conversationIdentifier(id: string): string {
  if (isIdentifier(id)) return id;
  throw new BadInputError(`Expected the id of a conversation, but got ${shown(id)}: ${identifierRule}.`);
}

/** A conversation is named below its channel: `channels/<id>/conversations/<id>`. */
export interface ConversationName {
  name: string;
  channel: ResourceName<'channels'>;
  /** The bare identifier within the channel. */
  conversation: string;
}

/** The parts of a conversation's name, or undefined where the text is not one. */
export function conversationName(name: string): ConversationName | undefined {
  const [channels, channel = '', conversations, conversation = '', ...more] = name.split('/');
  const fits =
    channels === 'channels' &&
    conversations === 'conversations' &&
    isIdentifier(channel) &&
    isIdentifier(conversation) &&
    more.length === 0;
  return fits ? { name, channel: `channels/${channel}`, conversation } : undefined;
}

/** The conversation that a message's name, `channels/<id>/conversations/<id>/messages/<id>`, belongs to. */
export function conversationOfMessage(message: string): ConversationName | undefined {
  return conversationName(message.split('/').slice(0, 4).join('/'));
}

/** Whether a text is the whole name of a message, `channels/<id>/conversations/<id>/messages/<id>`. */
export function isMessageName(name: string): boolean {
  const [messages, message = '', ...more] = name.split('/').slice(4);
  const isBelow = messages === 'messages' && isIdentifier(message) && more.length === 0;
  return isBelow && conversationOfMessage(name) !== undefined;
}

/** An id as an error shows it: quoted, control characters escaped, cut at 64 characters. */
export function shown(id: string): string {
  const text = JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
  // JSON leaves control characters beyond ASCII, and breaks of lines and paragraphs, as they are.
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

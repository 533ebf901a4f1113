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

// Starts with a letter or digit, so that '.' and '..', which encodeURIComponent leaves alone, can't reach a path.
const identifier = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

const identifierRule =
  'an identifier is 1 to 128 letters, digits, ".", "_", "~" or "-", and starts with a letter or digit';

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
  if (!identifier.test(bare)) {
    throw new BadInputError(`Expected an id of ${collection}, but got ${shown(id)}: ${identifierRule}.`);
  }
  return `${collection}/${bare}`;
}

/** The bare identifier of a name of `collection`, fit for a path. @throws BadInputError as `resourceName` does. */
export function bareIdentifier(collection: Collection, id: string): string {
  return resourceName(collection, id).slice(collection.length + 1);
}

// Whole names but for their length, which takes as long again to match. Each row of a list is held against one.
const names: Record<Collection, RegExp> = {
  orders: /^orders\/[A-Za-z0-9][\w.~-]*$/,
  shipments: /^shipments\/[A-Za-z0-9][\w.~-]*$/,
  quotes: /^quotes\/[A-Za-z0-9][\w.~-]*$/,
  origins: /^origins\/[A-Za-z0-9][\w.~-]*$/,
  locations: /^locations\/[A-Za-z0-9][\w.~-]*$/,
  organization: /^organization\/[A-Za-z0-9][\w.~-]*$/,
  channels: /^channels\/[A-Za-z0-9][\w.~-]*$/,
  couriers: /^couriers\/[A-Za-z0-9][\w.~-]*$/,
};

/** Whether a value, from REST or a client, is a whole name of `collection`. */
export function isNameOf<C extends Collection>(collection: C, value: unknown): value is ResourceName<C> {
  return (
    typeof value === 'string' && value.length <= collection.length + 129 && names[collection].test(value)
  );
}

/** A conversation's own identifier, fit for a path. @throws BadInputError where it is not of an identifier's form. */
export function conversationIdentifier(id: string): string {
  if (identifier.test(id)) return id;
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
    identifier.test(channel) &&
    identifier.test(conversation) &&
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
  const isBelow = messages === 'messages' && identifier.test(message) && more.length === 0;
  return isBelow && conversationOfMessage(name) !== undefined;
}

/** An id as an error shows it: quoted, control characters escaped, cut at 64 characters. */
export function shown(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}

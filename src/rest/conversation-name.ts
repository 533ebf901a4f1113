import { quoteForMessage } from '../base/quote-for-message.ts';
import { BadInputError } from './errors.ts';
import { identifier, identifierRule, isNameFor, pattern, type ResourceName } from './resource-name.ts';

/** The identifier of a conversation within its channel. @throws BadInputError if `id` is no identifier. */
export function conversationIdentifier(id: string): string {
  if (identifier.test(id)) return id;
  throw new BadInputError(
    `Expected the bare identifier of a conversation, but got ${quoteForMessage(id)}: ${identifierRule}`,
  );
}

/** The parsed name of a conversation: `channels/<id>/conversations/<id>`. */
export interface ConversationName {
  name: string;
  channel: ResourceName<'channels'>;
  /** The bare identifier within the channel. */
  conversation: string;
}

const conversationPattern = pattern('channels/<identifier>/conversations/<identifier>');

/** Parses the name of a conversation. @returns undefined if `name` is no such name. */
export function conversationName(name: string): ConversationName | undefined {
  const [, channel, conversation] = conversationPattern.exec(name) ?? [];
  if (channel === undefined || conversation === undefined) return undefined;
  return { name, channel: `channels/${channel}`, conversation };
}

/** The conversation in the name of a message. @returns undefined if `name` is no such name. */
export function messageConversation(name: string): ConversationName | undefined {
  return isNameFor('messages', name) ? conversationName(name.split('/').slice(0, 4).join('/')) : undefined;
}

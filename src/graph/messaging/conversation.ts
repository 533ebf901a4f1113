import { quoteForMessage } from '../../base/quote-for-message.ts';
import { type ConversationName, conversationName } from '../../rest/conversation-name.ts';
import { BadInputError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';
import { relation } from '../fields/related-record.ts';
import { nullByError } from '../fields/semantic-non-null.ts';
import { Node, registerNode } from '../relay/node.ts';
import { Channel } from './channel.ts';

export const Conversation = builder.objectRef<ConversationName>('Conversation').implement({
  description:
    'The messages exchanged with one customer through one channel. The REST service cannot look up a conversation. ' +
    'Read `messages` to check whether the conversation exists.',
  interfaces: [Node],
  fields: (t) => ({
    // The description of `Node.id` has the form of the other ids.
    id: t.exposeID('name', {
      description:
        'The resource name, `channels/<identifier>/conversations/<identifier>`. Stable, and unique among all types.',
    }),
    channel: t.field(
      relation(Channel, 'channels', 'The channel of the conversation.', ({ channel }) => channel),
    ),
  }),
});

registerNode({
  typename: 'Conversation',
  owns: (id) => conversationName(id) !== undefined,
  load: async (id) => conversationName(id) ?? null,
});

/**
 * Returns the conversation.
 * @param expected what else the right id needs: the end of "Expected the id of a conversation"
 * @throws BadInputError if `found` is undefined
 */
function checkFound(found: ConversationName | undefined, expected: string, id: string): ConversationName {
  if (found !== undefined) return found;
  throw new BadInputError(`Expected the id of a conversation${expected}, but got ${quoteForMessage(id)}.`);
}

builder.objectField(Channel, 'conversation', (t) =>
  t.field({
    type: Conversation,
    nullable: true,
    description:
      'The conversation with this id in this channel. Costs no call, because Waybill does not check that the ' +
      'conversation exists.',
    extensions: nullByError,
    args: {
      id: t.arg.id({
        required: true,
        description: 'The full id, `channels/<identifier>/conversations/<identifier>`, or a bare identifier.',
      }),
    },
    resolve({ name: channel }, { id }) {
      const conversation = conversationName(id.includes('/') ? id : `${channel}/conversations/${id}`);
      return checkFound(conversation?.channel === channel ? conversation : undefined, ` of ${channel}`, id);
    },
  }),
);

builder.queryField('conversation', (t) =>
  t.field({
    type: Conversation,
    nullable: true,
    description:
      'The conversation with this id. Costs no call, because Waybill does not check that the conversation exists.',
    extensions: nullByError,
    args: {
      id: t.arg.id({
        required: true,
        description: 'The full id, `channels/<identifier>/conversations/<identifier>`.',
      }),
    },
    resolve: (_root, { id }) =>
      checkFound(conversationName(id), ', "channels/<identifier>/conversations/<identifier>"', id),
  }),
);

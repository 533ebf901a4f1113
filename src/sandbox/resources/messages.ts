import { Type } from 'typebox';
import type { Quirks } from '../faults/quirks.ts';
import type { Server, Service } from '../http/server-type.ts';
import {
  ChannelPath,
  ConversationPath,
  CreateMessageBody,
  CreateMessageByPhoneBody,
  ListQuery,
} from '../interface/requests.ts';
import { type Channel, Message } from '../interface/schemas.ts';
import { conflict, errorResponses, invalid } from '../interface/service-error.ts';
import { messageDueAt } from '../rules/due-transitions.ts';
import { sentTemplateFrom } from '../rules/sent-template.ts';
import type { Merchant } from '../store/merchants.ts';
import { type Conversation, hasPhone, type Store } from '../store/store.ts';

const tags = ['Messaging'];

/** Adds the routes of messages: send to a phone number or into a conversation, and list a conversation. */
export function addRoutes(server: Server, { store, clock }: Service): void {
  const send = (
    merchant: Merchant,
    quirks: Quirks,
    conversation: Conversation,
    content: Content,
  ): Message => {
    const list = { merchant: merchant.id, path: `${conversation.name}/messages` };
    const now = clock.now();
    const message: Message = {
      name: `${list.path}/${store.nextIdentifier(list, quirks.identifiers, 'm', 3)}`,
      createTime: now.toISOString(),
      status: 'SENDING',
      ...content,
    };
    store.messages.insert(list, message, messageDueAt(message, now));
    return message;
  };

  server.post(
    '/v1/channels/:channelId/messages',
    {
      schema: {
        operationId: 'createMessageByPhone',
        summary: 'Send a text to a phone number. Starts a conversation if there is none yet.',
        tags,
        params: ChannelPath,
        body: CreateMessageByPhoneBody,
        response: { 200: Message, ...errorResponses(400, 404, 409) },
      },
    },
    ({ merchant, quirks, params, body: { recipient, text } }) => {
      const channel = activeChannel(store, merchant, params.channelId);
      return store.database.transaction(() => {
        const conversation = findOrCreateConversation(store, merchant, quirks, channel, recipient);
        return send(merchant, quirks, conversation, { contentType: 'TEXT', text });
      });
    },
  );

  server.post(
    '/v1/channels/:channelId/conversations/:conversationId/messages',
    {
      schema: {
        operationId: 'createMessage',
        summary: 'Send a text or a template in a conversation.',
        tags,
        params: ConversationPath,
        body: CreateMessageBody,
        response: { 201: Message, ...errorResponses(400, 404, 409) },
      },
    },
    ({ merchant, quirks, params, body }, reply) => {
      const channel = activeChannel(store, merchant, params.channelId);
      const list = { merchant: merchant.id, path: `${channel.name}/conversations` };
      const conversation = store.conversations.get(list, `${list.path}/${params.conversationId}`);
      const content = contentFrom(store, merchant, channel, body);
      const message = send(merchant, quirks, conversation, content);
      reply.code(201);
      return message;
    },
  );

  server.get(
    '/v1/channels/:channelId/conversations/:conversationId/messages',
    {
      schema: {
        operationId: 'listMessages',
        summary: 'List the messages of a conversation, newest first.',
        tags,
        params: ConversationPath,
        querystring: ListQuery({ defaultSize: 20, maxSize: 100 }, {}),
        response: {
          200: Type.Object({ messages: Type.Array(Message), nextPageToken: Type.String() }),
          ...errorResponses(400, 404),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, params, query: { pageSize = 20, pageToken } }) => {
      const path = `channels/${params.channelId}/conversations`;
      const conversation = store.conversations.get(
        { merchant: merchant.id, path },
        `${path}/${params.conversationId}`,
      );
      const list = { merchant: merchant.id, path: `${conversation.name}/messages` };
      const page = store.messages.page(list, { pageSize, pageToken, oldestFirst });
      return { messages: page.items, nextPageToken: page.nextPageToken };
    },
  );
}

type Content = Pick<Message, 'contentType' | 'text' | 'template'>;

/** Reads the content of a message. @throws ServiceError 400 unless the body has exactly one of text and template. */
function contentFrom(
  store: Store,
  merchant: Merchant,
  channel: Channel,
  { text, template }: CreateMessageBody,
): Content {
  if (text !== undefined && template !== undefined) {
    throw invalid({ field: 'template', message: 'cannot be sent together with text' });
  }
  if (text !== undefined) return { contentType: 'TEXT', text };
  if (template === undefined) throw invalid({ field: 'text', message: 'or template is required' });
  return {
    contentType: 'TEMPLATE',
    template: sentTemplateFrom(store, merchant.id, channel.name, template),
  };
}

/** Finds a channel to send through. @throws ServiceError 404 if there is none, 409 if it is not active. */
function activeChannel(store: Store, merchant: Merchant, id: string): Channel {
  const channel = store.channels.get({ merchant: merchant.id, path: 'channels' }, `channels/${id}`);
  if (!channel.active) throw conflict(`${channel.name} is not active`);
  return channel;
}

function findOrCreateConversation(
  store: Store,
  merchant: Merchant,
  quirks: Quirks,
  channel: Channel,
  { phone, name: recipientName }: CreateMessageByPhoneBody['recipient'],
): Conversation {
  const list = { merchant: merchant.id, path: `${channel.name}/conversations` };
  const [existing] = store.conversations.all(list, hasPhone(phone));
  if (existing !== undefined) return existing;
  const name = `${list.path}/${store.nextIdentifier(list, quirks.identifiers, merchant.prefix, 1)}`;
  const conversation = { name, phone, recipientName };
  store.conversations.insert(list, conversation);
  return conversation;
}

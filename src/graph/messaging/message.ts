import { quoteForMessage } from '../../base/quote-for-message.ts';
import { type ConversationName, messageConversation } from '../../rest/conversation-name.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { MessageJson, SentTemplateJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { openEnum } from '../fields/open-enum.ts';
import { defineList } from '../relay/connection.ts';
import { registerNonRefetchable } from '../relay/node.ts';
import { Conversation } from './conversation.ts';
import { findTemplate, Template } from './template.ts';
import { fillTemplate } from './template-text.ts';

const messageStatus = openEnum('MessageStatus', 'The delivery status of a message.', {
  SENDING: 'The message is accepted, but not sent yet.',
  SENT: 'The message was sent.',
  DELIVERED: "The message is on the customer's phone.",
  READ: 'The customer read the message.',
  FAILED: 'The message could not be delivered.',
});

const messageContentType = openEnum('MessageContentType', 'The content type of a message.', {
  TEXT: 'A text without a template.',
  TEMPLATE: 'A template with its parameters.',
});

type SentTemplateSource = SentTemplateJson & { channel: string };

const TemplateParameter = builder.objectRef<{ name: string; value: string }>('TemplateParameter').implement({
  description: 'The value of one parameter of a sent template.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the parameter.' }),
    value: t.exposeString('value', { description: 'The text of the parameter.' }),
  }),
});

const SentTemplate = builder.objectRef<SentTemplateSource>('SentTemplate').implement({
  description: 'The template of a sent message, with its values.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the template.' }),
    language: t.exposeString('language', { description: 'The language code of the sent template.' }),
    headerParameters: t.field({
      type: [TemplateParameter],
      description: 'The values in the header.',
      extensions: { estimatedItems: 2 },
      resolve: (sent) => parameterList(sent.headerParameters),
    }),
    bodyParameters: t.field({
      type: [TemplateParameter],
      description: 'The values in the body.',
      extensions: { estimatedItems: 5 },
      resolve: (sent) => parameterList(sent.bodyParameters),
    }),
    definition: t.field({
      type: Template,
      nullable: true,
      description:
        'The current definition of the template, or null if it no longer exists. Costs `GET ' +
        '/v1/channels/{id}/templates` (once for all templates of the channel).',
      resolve: (sent, _args, { loaders }) => findTemplate(sent, loaders),
    }),
  }),
});

function parameterList(parameters: SentTemplateJson['bodyParameters']) {
  return Array.from(valuesByName(parameters), ([name, value]) => ({ name, value }));
}

/** @throws InvalidResponseError if REST sent anything but a map of texts. */
function valuesByName(parameters: SentTemplateJson['bodyParameters']): Map<string, string> {
  const map: unknown = parameters ?? {};
  const values = typeof map === 'object' && !Array.isArray(map) ? Object.entries(map ?? {}) : undefined;
  if (values?.every(([, value]) => typeof value === 'string')) return new Map(values);
  throw new InvalidResponseError('The REST service sent template parameters that are not a map of strings');
}

export const Message = builder.objectRef<MessageJson>('Message').implement({
  description: 'A message sent to a customer.',
  fields: (t) => ({
    id: t.exposeID('name', {
      description: 'The id, `channels/<identifier>/conversations/<identifier>/messages/<identifier>`.',
    }),
    createTime: t.expose('createTime', { type: 'DateTime', description: 'The time of creation.' }),
    status: t.field(messageStatus.field('The delivery status of the message.', ({ status }) => status)),
    contentType: t.field(
      messageContentType.field(
        'The type of the content: text or template.',
        ({ contentType }) => contentType,
      ),
    ),
    text: t.exposeString('text', {
      nullable: true,
      description: 'The text, or null if the message is a template.',
    }),
    template: t.field({
      type: SentTemplate,
      nullable: true,
      description: 'The template with its values, or null if the message is a text.',
      resolve: sentTemplate,
    }),
    body: t.string({
      nullable: true,
      description:
        'The message as the customer reads it, or null if its template no longer exists. Costs `GET ' +
        '/v1/channels/{id}/templates` (once for all templates of the channel) if the message is a template.',
      resolve: async (message, _args, { loaders }) => {
        const sent = sentTemplate(message);
        if (sent === null) return message.text ?? null;
        const definition = await findTemplate(sent, loaders);
        if (definition === null) return null;
        const { header, body, footer } = fillTemplate(definition, {
          header: valuesByName(sent.headerParameters),
          body: valuesByName(sent.bodyParameters),
        });
        return [header, body, footer].filter(Boolean).join('\n\n');
      },
    }),
    conversation: t.field({
      type: Conversation,
      description: 'The conversation of the message.',
      resolve: conversation,
    }),
  }),
});

function sentTemplate(message: MessageJson): SentTemplateSource | null {
  if (message.template === undefined || message.template === null) return null;
  return { ...message.template, channel: conversation(message).channel };
}

function conversation({ name }: MessageJson): ConversationName {
  const parsed = messageConversation(name);
  if (parsed !== undefined) return parsed;
  throw new InvalidResponseError(
    `The REST service sent ${quoteForMessage(name)}, which is not the resource name of a message`,
  );
}

const messageList = defineList(Message, 'messages');

registerNonRefetchable(
  'Message',
  (id) => messageConversation(id) !== undefined,
  (id) =>
    `Read a message with its conversation: conversation(id: "${messageConversation(id)?.name}") ` +
    '{ messages { nodes { id } } }.',
);

builder.objectField(Conversation, 'messages', (t) =>
  t.field({
    ...messageList.field,
    description:
      'The messages of the conversation, as the REST service sorts them. Costs `GET ' +
      '/v1/channels/{id}/conversations/{id}/messages`.',
    resolve: ({ channel, conversation }, args, { loaders }) =>
      messageList.read(loaders.messagePage, args, { channel, conversation }),
  }),
);

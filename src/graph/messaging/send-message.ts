import * as v from 'valibot';
import { conversationName } from '../../rest/conversation-name.ts';
import type { MessageJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import { idempotencyKey, keyDescription, parsed } from '../mutation/input-rules.ts';
import { inputsArg, runBatch } from '../mutation/run-batch.ts';
import { NotFound, resultUnion, WriteFailed } from '../mutation/user-error.ts';
import { Message } from './message.ts';
import { MessageContentInput, messageContentRules, messageJson } from './message-content-input.ts';
import { checkTemplateFits } from './template-check.ts';

const SendMessageInput = builder.inputType('SendMessageInput', {
  description: 'A message and its conversation.',
  fields: (t) => ({
    conversation: t.id({
      required: true,
      description: 'The conversation, `channels/<identifier>/conversations/<identifier>`.',
    }),
    content: t.field({
      type: MessageContentInput,
      required: true,
      description: 'The content of the message: either a text or a template.',
    }),
    idempotencyKey: t.string({
      description: keyDescription('message', 'sends', '`GET /v1/channels/{id}/conversations/{id}/messages`'),
    }),
  }),
});

// A whole name, because a bare identifier is unique in one channel only.
const conversationId = parsed(
  'the id of a conversation, "channels/<identifier>/conversations/<identifier>"',
  conversationName,
);

const rules = v.object({ conversation: conversationId, content: messageContentRules, idempotencyKey });

const SendMessageSuccess = builder
  .objectRef<{ __typename: 'SendMessageSuccess'; sent: MessageJson }>('SendMessageSuccess')
  .implement({
    description: 'The message was accepted for sending.',
    fields: (t) => ({
      sent: t.expose('sent', {
        type: Message,
        description: 'The accepted message. Its `status` shows whether the customer received it.',
      }),
    }),
  });

export const SendMessageResult = resultUnion('SendMessageResult', [
  SendMessageSuccess,
  NotFound,
  WriteFailed,
]);

const send = defineMutation({
  rules,
  target: ({ conversation }) => ({ id: conversation.name, path: 'conversation' }),
  restToInputPaths: { text: 'content.text', template: 'content.template' },
  run: async ({ conversation, content, idempotencyKey }, { writes, loaders }) => ({
    __typename: 'SendMessageSuccess' as const,
    sent: await writes.sendMessage(conversation, messageJson(content), idempotencyKey, () =>
      checkTemplateFits(content, conversation.channel, loaders),
    ),
  }),
  adviceOnUnknownOutcome: ({ conversation: { name } }) =>
    `Before you send the message again, look for it among the newest messages of conversation(id: ` +
    `${JSON.stringify(name)}). ` +
    'Then use a new idempotencyKey.',
});

builder.mutationFields((t) => ({
  sendMessage: t.field({
    type: SendMessageResult,
    nullable: true,
    description:
      'Sends a text or a template to a conversation. If the values of a template do not match its parameters, the ' +
      'result is `InvalidInput`. Costs `POST /v1/channels/{id}/conversations/{id}/messages`, ' +
      'and also `GET /v1/channels/{id}/templates` for a template.',
    args: inputArg(SendMessageInput, 'The message to send.'),
    resolve: send,
  }),
  sendMessages: t.field({
    type: [SendMessageResult],
    nullable: true,
    description:
      'Sends up to 100 messages. Messages to one conversation are sent one after the other, in the sequence of ' +
      '`inputs`. Returns one result per input, in that sequence. If every result would be a `WriteFailed` with the ' +
      'same `code`, the field is null instead, with that error. Costs ' +
      '`POST /v1/channels/{id}/conversations/{id}/messages` for each input, ' +
      'and also `GET /v1/channels/{id}/templates` for templates.',
    args: inputsArg(SendMessageInput, 'The messages to send, at most 100.'),
    resolve: (_root, { inputs }, context, info) =>
      runBatch(inputs, ({ conversation }) => conversation, send, context, info),
  }),
}));

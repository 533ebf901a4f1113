import * as v from 'valibot';
import { builder } from '../builder.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import { idDescription, idempotencyKey, keyDescription, recordId } from '../mutation/input-rules.ts';
import { SendMessageResult } from './send-message.ts';

const SendMessageToPhoneInput = builder.inputType('SendMessageToPhoneInput', {
  description: 'A text and the phone number of its recipient.',
  fields: (t) => ({
    channel: t.id({
      required: true,
      description: idDescription('The channel that sends the text', 'channels'),
    }),
    phone: t.string({ required: true, description: "The customer's phone number, such as `+573001112233`." }),
    name: t.string({ required: true, description: "The customer's name." }),
    text: t.string({ required: true, description: 'The text that the customer reads.' }),
    idempotencyKey: t.string({
      description: keyDescription('message', 'sends', '`GET /v1/channels/{id}/conversations/{id}/messages`'),
    }),
  }),
});

const rules = v.object({
  channel: recordId('channels'),
  phone: v.string(),
  name: v.string(),
  text: v.string(),
  idempotencyKey,
});

builder.mutationField('sendMessageToPhone', (t) =>
  t.field({
    type: SendMessageResult,
    nullable: true,
    description: 'Sends a text to a phone number. Costs `POST /v1/channels/{id}/messages`.',
    args: inputArg(SendMessageToPhoneInput, 'The text to send.'),
    resolve: defineMutation({
      rules,
      target: ({ channel }) => ({ id: channel, path: 'channel' }),
      restToInputPaths: { recipient: '', 'recipient.phone': 'phone', 'recipient.name': 'name' },
      run: async ({ channel, phone, name, text, idempotencyKey }, { writes }) => ({
        __typename: 'SendMessageSuccess' as const,
        sent: await writes.sendToPhone(channel, { recipient: { phone, name }, text }, idempotencyKey),
      }),
      adviceOnUnknownOutcome: ({ channel, phone }) =>
        `Before you send the text again, look for it on the phone of ${channel} or among the newest messages of the ` +
        `conversation with ${phone}. Then use a new idempotencyKey.`,
    }),
  }),
);

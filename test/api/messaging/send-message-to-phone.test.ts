import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { SendMessageToPhoneDocument, type SendMessageToPhoneInput } from '../../documents.generated.ts';
import { learnMerchants, organizationCall } from '../../fixtures/known-merchant.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;
const hurried = await startWaybill({ UPSTREAM_TIMEOUT_MS: '1500' }, { sandbox });
await learnMerchants(waybill, waybill.sandbox.tokens.first);

afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await hurried[Symbol.asyncDispose]();
  await waybill[Symbol.asyncDispose]();
});

const path = '/v1/channels/ca1/messages';
const post = `POST ${path}`;
const lucia = { channel: 'channels/ca1', phone: '+573104567890', name: 'Lucía', text: 'Hola' };

const send = (input: Partial<SendMessageToPhoneInput> = {}) =>
  ask(SendMessageToPhoneDocument, { input: { ...lucia, ...input } });

const outcomeUnknown = (idempotencyKey: string | null) => ({
  sendMessageToPhone: {
    __typename: 'OutcomeUnknown',
    message:
      'The response of the REST service was lost, so the write may or may not have happened. Before you send the text again, ' +
      'look for it on the phone of channels/ca1 or among the newest messages of the conversation with +573104567890. ' +
      'Then use a new idempotencyKey.',
    idempotencyKey,
  },
});

describe('sendMessageToPhone', () => {
  test.each(['channels/ca1', 'ca1'])(
    'sends a text to an existing conversation of the channel %s',
    async (channel) => {
      const text = `Hola por ${channel} 👋🏽 שלום`;
      const { data, errors, calls } = await send({ channel, text });
      const conversation = 'channels/ca1/conversations/ca60';
      expect({ data, errors }).toEqual({
        data: {
          sendMessageToPhone: {
            __typename: 'SendMessageSuccess',
            sent: {
              id: expect.stringMatching(/^channels\/ca1\/conversations\/ca60\/messages\/m\d{3}$/),
              status: 'SENDING',
              contentType: 'TEXT',
              text,
              conversation: { id: conversation, messages: { nodes: [{ text }] } },
            },
          },
        },
        errors: undefined,
      });
      expect(calls).toEqual([post, `GET /v1/${conversation}/messages?pageSize=1`]);
      expect(sandbox.requests.entries().map(({ body }) => body)).toEqual([
        { recipient: { phone: '+573104567890', name: 'Lucía' }, text },
        undefined,
      ]);
    },
  );

  test('starts a conversation if none exists', async () => {
    const { data, calls } = await send({ phone: '+573009990001', text: 'Bienvenida' });
    const { sendMessageToPhone: result } = data;
    const sent = result.__typename === 'SendMessageSuccess' ? result.sent : undefined;
    expect(sent).toMatchObject({
      id: expect.stringMatching(/\/messages\/m001$/),
      conversation: { messages: { nodes: [{ text: 'Bienvenida' }] } },
    });
    expect(calls).toEqual([post, `GET /v1/${sent?.conversation.id}/messages?pageSize=1`]);
  });
});

describe('sendMessageToPhone with an invalid input', () => {
  test.each(['orders/ca2481', 'channels/ca1/conversations/ca60', '..', ''])(
    'rejects the invalid channel id %j without a call',
    async (channel) => {
      const { data, errors, calls } = await send({ channel });
      const message =
        'must be an id of the form "channels/<identifier>" or a bare identifier, but is ' +
        JSON.stringify(channel);
      expect({ data, errors, calls }).toEqual({
        data: {
          sendMessageToPhone: {
            __typename: 'InvalidInput',
            message: `The input is invalid, and nothing was written: channel ${message}.`,
            fields: [{ path: 'channel', message }],
          },
        },
        errors: undefined,
        calls: [],
      });
    },
  );

  test('reports every invalid field in one result', async () => {
    const { data, calls } = await send({ channel: 'couriers/1', idempotencyKey: '' });
    expect(data.sendMessageToPhone).toMatchObject({
      fields: [
        { path: 'channel', message: expect.any(String) },
        { path: 'idempotencyKey', message: 'must be 1 to 255 characters long, but has 0' },
      ],
    });
    expect(calls).toEqual([]);
  });
});

describe('a REST error of sendMessageToPhone', () => {
  test('becomes InvalidInput with the input path of each rejected field', async () => {
    const { data, errors, calls } = await send({ phone: 'nobody', name: '', text: '' });
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessageToPhone: {
          __typename: 'InvalidInput',
          message: expect.stringMatching(/^The request is invalid: /),
          fields: [
            { path: 'phone', message: 'must be a phone number' },
            { path: 'name', message: 'must have at least 1 character' },
            { path: 'text', message: 'must have at least 1 character' },
          ],
        },
      },
      errors: undefined,
      calls: [post],
    });
  });

  test.each([
    ['recipient.phone', 'phone'],
    ['/recipient/name', 'name'],
    ['body.text', 'text'],
    ['recipient', '', 'recipient is odd'],
  ])('for the field %s is reported with the input path %j', async (field, place, message = 'is odd') => {
    const body = { message: 'No', errors: [{ field, message: 'is odd' }] };
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status: 422, body });
    const { data, errors, calls } = await send();
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessageToPhone: {
          __typename: 'InvalidInput',
          message: 'No',
          fields: [{ path: place, message }],
        },
      },
      errors: undefined,
      calls: [post],
    });
  });

  test.each([
    ['a missing channel', 'channels/ca9', undefined],
    ["another merchant's channel", 'channels/ca1', sandbox.tokens.second],
  ])('becomes NotFound for %s', async (_what, channel, bearer) => {
    const { data, errors, calls } = await ask(
      SendMessageToPhoneDocument,
      { input: { ...lucia, channel } },
      bearer,
    );
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessageToPhone: {
          __typename: 'NotFound',
          message: `${channel} does not exist`,
          missingId: channel,
        },
      },
      errors: undefined,
      calls: [`POST /v1/${channel}/messages`],
    });
  });

  test('becomes Conflict for an inactive channel', async () => {
    const { data, errors, calls } = await send({ channel: 'ca3' });
    expect({ data, errors, calls }).toEqual({
      data: { sendMessageToPhone: { __typename: 'Conflict', message: 'channels/ca3 is not active' } },
      errors: undefined,
      calls: ['POST /v1/channels/ca3/messages'],
    });
  });

  test.each([
    [429, { code: 'RATE_LIMITED', retryable: true }],
    [500, { code: 'UPSTREAM_ERROR', retryable: false }],
  ])('becomes a field error if the status is %i', async (status, extensions) => {
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status });
    const { data, errors, calls } = await send();
    expect(data).toEqual({ sendMessageToPhone: null });
    expect(errors).toEqual([
      expect.objectContaining({
        message: `${post} returned ${status}`,
        path: ['sendMessageToPhone'],
        extensions: { ...extensions, upstreamStatus: status },
      }),
    ]);
    expect(calls).toEqual([post]);
  });
});

describe('sendMessageToPhone without a response', () => {
  test('returns OutcomeUnknown again without a call on a retry with the same key', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'applied-then-cut', times: 1 });
    for (const calls of [[post], []]) {
      const answer = await send({ idempotencyKey: 'cut' });
      expect(answer).toEqual({ status: 200, data: outcomeUnknown('cut'), errors: undefined, calls });
    }
  });

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'hang' });
    const { data, errors, calls } = await hurried.ask(SendMessageToPhoneDocument, { input: lucia });
    expect({ data, errors, calls }).toEqual({
      data: outcomeUnknown(null),
      errors: undefined,
      calls: [post],
    });
  });
});

describe('the idempotencyKey of sendMessageToPhone', () => {
  const alone = `mutation ($input: SendMessageToPhoneInput!) { sendMessageToPhone(input: $input) {
    ... on SendMessageSuccess { sent { id } } ... on UserError { message } } }`;
  const sendAlone = (input: object) =>
    ask<{ sendMessageToPhone: object }, unknown>(alone, { input: { ...lucia, ...input } });

  /** The call of a repeated key: the newest page of the conversation with the phone. */
  const newestPage = 'GET /v1/channels/ca1/conversations/ca60/messages?pageSize=100';

  test('costs an organization call only the first time a token sends a key', async () => {
    await using fresh = await startWaybill({}, { sandbox });
    const costOf = async (input: object) => (await fresh.ask(alone, { input: { ...lucia, ...input } })).calls;
    expect(await costOf({})).toEqual([post]);
    expect(await costOf({ idempotencyKey: 'merchant 1' })).toEqual([organizationCall, post]);
    expect(await costOf({ idempotencyKey: 'merchant 2' })).toEqual([post]);
  });

  test('sends only one text for concurrent and repeated requests', async () => {
    const input = { idempotencyKey: 'thrice' };
    const both = await Promise.all([sendAlone(input), sendAlone(input)]);
    expect(sandbox.requests.lines()).toEqual([post]);
    const later = await sendAlone(input);
    expect(later.calls).toEqual([newestPage]);
    expect(later.data).toEqual({ sendMessageToPhone: { sent: { id: expect.any(String) } } });
    expect(both.map(({ data }) => data)).toEqual([later.data, later.data]);
  });

  test.each([
    ['text', { text: 'Chao' }],
    ['phone', { phone: '+573104567891' }],
    ['name', { name: 'Luz' }],
    ['channel', { channel: 'ca2' }],
  ])('returns Conflict without a call if a retry has a different %s', async (what, other) => {
    const key = { idempotencyKey: `another ${what}` };
    expect((await sendAlone(key)).calls).toEqual([post]);
    const { data, errors, calls } = await sendAlone({ ...key, ...other });
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessageToPhone: {
          message: expect.stringMatching(
            /^This idempotencyKey was used with another input\. Nothing was written\./,
          ),
        },
      },
      errors: undefined,
      calls: [],
    });
  });

  test('treats the full id and bare identifier of a channel as equal', async () => {
    const first = await sendAlone({ idempotencyKey: 'either', channel: 'ca1' });
    expect(first.calls).toEqual([post]);
    const again = await sendAlone({ idempotencyKey: 'either', channel: 'channels/ca1' });
    expect(again).toEqual({ ...first, calls: [newestPage] });
  });

  test('returns the sent text on a retry even if the newest page of messages lacks it', async () => {
    const input = { ...lucia, text: 'Vieja', idempotencyKey: 'old' };
    const { data } = await ask(SendMessageToPhoneDocument, { input });
    sandbox.faults.add({ method: 'GET', kind: 'change', change: () => ({ messages: [] }) });
    const again = await ask(SendMessageToPhoneDocument, { input });
    if (data.sendMessageToPhone.__typename !== 'SendMessageSuccess') throw new Error(JSON.stringify(data));
    const { sent } = data.sendMessageToPhone;
    const conversation = { ...sent.conversation, messages: { nodes: [] } };
    expect(again.data.sendMessageToPhone).toMatchObject({ sent: { ...sent, conversation } });
    expect(again.calls).toEqual([newestPage, newestPage.replace('100', '1')]);
  });
});

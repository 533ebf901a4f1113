import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  ChannelListDocument,
  ChannelLookupDocument,
  ConversationAloneDocument,
  ConversationChannelDocument,
  ConversationOfChannelDocument,
} from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

describe('channels', () => {
  test('have the phone number that customers see', async () => {
    const { data, calls } = await ask(ChannelListDocument);
    expect(data).toEqual({
      channels: {
        nodes: [
          { id: 'channels/ca1', type: 'chat', active: true, phoneNumber: '+576015550142' },
          { id: 'channels/ca2', type: 'chat', active: true, phoneNumber: '+576045550177' },
          { id: 'channels/ca3', type: 'chat', active: false, phoneNumber: '+576065550119' },
        ],
        pageInfo: { hasNextPage: false },
      },
    });
    expect(calls).toEqual(['GET /v1/channels?pageSize=20']);
  });

  test.each(['ca3', 'channels/ca3'])('are looked up by id in the channel list: %s', async (id) => {
    const { data, calls } = await ask(ChannelLookupDocument, { id });
    expect(data).toEqual({ channel: { id: 'channels/ca3', active: false, phoneNumber: '+576065550119' } });
    expect(calls).toEqual(['GET /v1/channels?pageSize=100']);
  });

  test.each(['ca4', 'ca', 'st1'])('are null if the channel list does not have the id %s', async (id) => {
    const answer = await ask(ChannelLookupDocument, { id });
    expect(answer).toEqual({
      status: 200,
      data: { channel: null },
      errors: undefined,
      calls: ['GET /v1/channels?pageSize=100'],
    });
  });

  test('cost one call for all lookups of an operation', async () => {
    const { data, calls } = await ask(
      '{ a: channel(id: "ca1") { id } b: channel(id: "ca2") { id } c: node(id: "channels/ca9") { id } }',
    );
    expect(data).toEqual({ a: { id: 'channels/ca1' }, b: { id: 'channels/ca2' }, c: null });
    expect(calls).toEqual(['GET /v1/channels?pageSize=100']);
  });

  test('take the phone number from any nested object of the REST response', async () => {
    const channels = [
      { name: 'channels/1', type: 'pigeon', active: true, pigeonPost: { phoneNumber: '+4930123456' } },
      { name: 'channels/2', type: 'fax', active: true, limits: { pages: 3 }, fax: { phoneNumber: '+571' } },
      { name: 'channels/3', type: 'web', active: false, web: null, numbers: ['+572'] },
      { name: 'channels/4', type: 'chat', active: false, chatApp: { phoneNumber: 573 } },
      { name: 'channels/5', type: 'none', active: false, phoneNumber: '+574' },
    ];
    sandbox.faults.add({ path: '/v1/channels', kind: 'status', status: 200, body: { channels } });
    const { data, errors } = await ask('{ channels { nodes { type phoneNumber } } }');
    expect({ data, errors }).toEqual({
      data: {
        channels: {
          nodes: [
            { type: 'pigeon', phoneNumber: '+4930123456' },
            { type: 'fax', phoneNumber: '+571' },
            { type: 'web', phoneNumber: null },
            { type: 'chat', phoneNumber: null },
            { type: 'none', phoneNumber: null },
          ],
        },
      },
      errors: [
        {
          message: 'The REST service sent no valid value for the field at channels.nodes.3.phoneNumber.',
          locations: [{ line: 1, column: 27 }],
          path: ['channels', 'nodes', 3, 'phoneNumber'],
          extensions: { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false },
        },
      ],
    });
  });
});

describe('a conversation', () => {
  const id = 'channels/ca1/conversations/ca58';

  test('costs no call if only its id and the id of its channel are selected', async () => {
    const { data, calls } = await ask(ConversationAloneDocument, { id });
    expect(data).toEqual({
      conversation: { __typename: 'Conversation', id, channel: { id: 'channels/ca1' } },
    });
    expect(calls).toEqual([]);
  });

  test('reads its channel from the channel list', async () => {
    const { data, calls } = await ask(ConversationChannelDocument, { id });
    expect(data).toEqual({ conversation: { channel: { phoneNumber: '+576015550142' } } });
    expect(calls).toEqual(['GET /v1/channels?pageSize=100']);
  });

  test('has a null channel if the channel does not exist', async () => {
    const { data, errors } = await ask(ConversationChannelDocument, { id: 'channels/ca9/conversations/1' });
    expect({ data, errors }).toEqual({ data: { conversation: { channel: null } }, errors: undefined });
  });

  test.each(['ca58', id])(
    'is found in its channel by full id or bare identifier: %s',
    async (conversation) => {
      const { data, calls } = await ask(ConversationOfChannelDocument, { channel: 'ca1', id: conversation });
      expect(data).toEqual({ channel: { conversation: { id, channel: { id: 'channels/ca1' } } } });
      expect(calls).toEqual(['GET /v1/channels?pageSize=100']);
    },
  );
});

test.each([
  'channels/ca2/conversations/ca58',
  'conversations/ca58',
  'channels/ca1',
  'channels/ca1/conversations/ca58/messages/m001',
  'channels/ca1/conversations/..',
  '..',
  '',
])('Channel.conversation rejects the invalid id %j', async (other) => {
  const { data, errors, calls } = await ask(ConversationOfChannelDocument, { channel: 'ca1', id: other });
  expect(data).toEqual({ channel: { conversation: null } });
  expect(errors).toEqual([
    {
      message: `Expected the id of a conversation of channels/ca1, but got ${JSON.stringify(other)}.`,
      locations: [{ line: 3, column: 5 }],
      path: ['channel', 'conversation'],
      extensions: { code: 'BAD_USER_INPUT', retryable: false },
    },
  ]);
  expect(calls).toEqual(['GET /v1/channels?pageSize=100']);
});

test.each([
  'ca58',
  'conversations/ca58',
  'channels/ca1/conversations/',
  'channels//conversations/ca58',
  'channels/ca1/conversations/ca58/messages',
  'channels/../conversations/ca58',
])('Query.conversation rejects the malformed id %j', async (malformed) => {
  const { data, errors, calls } = await ask(ConversationAloneDocument, { id: malformed });
  expect(data).toEqual({ conversation: null });
  expect(errors).toMatchObject([{ path: ['conversation'], extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(calls).toEqual([]);
});

import { afterAll, describe, expect, test } from 'vitest';
import {
  MessageChannelsDocument,
  MessagePageDocument,
  NewestMessagesDocument,
} from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

describe('Conversation.messages', () => {
  const conversation = 'channels/ca1/conversations/ca58';
  const path = `/v1/${conversation}/messages`;
  const ids = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, index) => ({
      id: `${conversation}/messages/m${String(from - index).padStart(3, '0')}`,
    }));

  test('continues after the last message of the previous page', async () => {
    const { data, calls } = await ask(MessagePageDocument, { conversation, first: 2 });
    const end = data.conversation?.messages?.pageInfo.endCursor;
    expect(data).toEqual({
      conversation: {
        messages: {
          nodes: [{ id: `${conversation}/messages/m150` }, { id: `${conversation}/messages/m149` }],
          pageInfo: { hasNextPage: true, hasPreviousPage: false, endCursor: expect.any(String) },
        },
      },
    });
    expect(calls).toEqual([`GET ${path}?pageSize=2`]);

    const next = await ask(MessagePageDocument, { conversation, first: 1, after: end });
    expect(next.data).toEqual({
      conversation: {
        messages: {
          nodes: [{ id: `${conversation}/messages/m148` }],
          pageInfo: { hasNextPage: true, hasPreviousPage: true, endCursor: expect.any(String) },
        },
      },
    });
    expect(next.calls).toEqual([expect.stringMatching(/messages\?pageSize=1&pageToken=[\w-]+$/)]);
  });

  test.each([
    [20, 8],
    [40, 4],
    [75, 2],
    [100, 2],
  ])('lists 150 messages in order: pages of %i cost %i calls', async (first, expectedCalls) => {
    const nodes: unknown[] = [];
    const calls: string[] = [];
    const readOn = async (after: string | null): Promise<string | null> => {
      const answer = await ask(MessagePageDocument, { conversation, first, after });
      const page = answer.data.conversation?.messages;
      nodes.push(...(page?.nodes ?? []));
      calls.push(...answer.calls);
      return page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
    };
    for (let after = await readOn(null); after !== null; ) after = await readOn(after);
    expect(nodes).toEqual(ids(150, 1));
    expect(calls).toHaveLength(expectedCalls);
  });

  test('returns an empty page for an empty conversation', async () => {
    const empty = 'channels/ca1/conversations/ca57';
    const { data, errors, calls } = await ask(MessagePageDocument, { conversation: empty, first: 5 });
    const pageInfo = { hasNextPage: false, hasPreviousPage: false, endCursor: null };
    expect({ data, errors }).toEqual({
      data: { conversation: { messages: { nodes: [], pageInfo } } },
      errors: undefined,
    });
    expect(calls).toEqual([`GET /v1/${empty}/messages?pageSize=5`]);
  });

  test('returns null with the error NOT_FOUND for a missing conversation', async () => {
    const unknown = 'channels/ca1/conversations/ca99';
    const { status, data, errors, calls } = await ask(MessagePageDocument, {
      conversation: unknown,
      first: 1,
    });
    expect({ status, data }).toEqual({ status: 200, data: { conversation: { messages: null } } });
    expect(errors).toMatchObject([
      {
        path: ['conversation', 'messages'],
        extensions: { code: 'NOT_FOUND', retryable: false, upstreamStatus: 404 },
      },
    ]);
    expect(calls).toEqual([`GET /v1/${unknown}/messages?pageSize=1`]);
  });

  test('returns every field of a text message', async () => {
    const text = 'Sí 👍🏽, e\u0301 y é. שלום';
    await fetch(`${sandbox.url}/v1/channels/ca1/conversations/ca53/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.first}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
    const id = 'channels/ca1/conversations/ca53';
    const { data, calls } = await ask(NewestMessagesDocument, { conversation: id, first: 1 });
    expect(data).toEqual({
      conversation: {
        messages: {
          nodes: [
            {
              id: `${id}/messages/m002`,
              createTime: '2026-11-02T14:00:00.000Z',
              status: 'SENDING',
              contentType: 'TEXT',
              text,
              body: text,
              template: null,
              conversation: { id, channel: { id: 'channels/ca1' } },
            },
          ],
        },
      },
    });
    expect(calls).toEqual([`GET /v1/${id}/messages?pageSize=1`]);
  });

  test('costs one call for the channels of all messages', async () => {
    const { data, calls } = await ask(MessageChannelsDocument, { conversation });
    const node = { conversation: { channel: { phoneNumber: '+576015550142' } } };
    expect(data).toEqual({ conversation: { messages: { nodes: [node, node, node] } } });
    expect(calls).toEqual([`GET ${path}?pageSize=3`, 'GET /v1/channels?pageSize=100']);
  });

  test.each([-1, 101])('rejects the value %i of "first"', async (first) => {
    expect(await ask(MessagePageDocument, { conversation, first })).toMatchObject({
      status: 400,
      errors: [
        {
          message: `Expected "first" of Conversation.messages to be from 0 to 100, but got ${first}.`,
          extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED' },
        },
      ],
      calls: [],
    });
  });

  test('rejects the cursor of another conversation', async () => {
    const { data } = await ask(MessagePageDocument, { conversation, first: 1 });
    const after = data.conversation?.messages?.pageInfo.endCursor;
    const other = await ask(MessagePageDocument, { conversation: 'channels/ca1/conversations/ca52', after });
    expect(other.data).toEqual({ conversation: { messages: null } });
    expect(other.errors).toMatchObject([{ extensions: { code: 'INVALID_CURSOR' } }]);
    expect(other.calls).toEqual([]);
  });
});

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  SendMessageDocument,
  type SendMessageInput,
  SendTwoAndReadDocument,
} from '../../documents.generated.ts';
import { learnMerchants, organizationCall } from '../../fixtures/known-merchant.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;
const hurried = await startWaybill({ UPSTREAM_TIMEOUT_MS: '1500' }, { sandbox });
await learnMerchants(waybill, waybill.sandbox.tokens.first);
await learnMerchants(hurried, hurried.sandbox.tokens.first);

afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await hurried[Symbol.asyncDispose]();
  await waybill[Symbol.asyncDispose]();
});

const conversation = 'channels/ca1/conversations/ca57';
const path = `/v1/${conversation}/messages`;
const post = `POST ${path}`;
/** The call of a repeated key: the newest page of the conversation. */
const newestPage = `GET ${path}?pageSize=100`;

const send = (text: string, input: Partial<SendMessageInput> = {}) =>
  ask(SendMessageDocument, { input: { conversation, content: { text }, ...input } });

/** How many messages of this text the conversation holds, read past this server. */
async function sentTimes(text: string): Promise<number> {
  const response = await fetch(`${sandbox.url}${path}?pageSize=100`, {
    headers: { authorization: `Bearer ${sandbox.tokens.first}` },
  });
  const { messages } = (await response.json()) as { messages: { text?: string }[] }; // As the interface says.
  return messages.filter((message) => message.text === text).length;
}

/** Changes the rows of the conversation's messages, until the end of the test. */
function changeNewestPage(change: (rows: { text?: string }[]) => object[]): void {
  sandbox.faults.add({
    method: 'GET',
    path,
    kind: 'change',
    // The cast is safe: the interface says so.
    change: (page) => ({ messages: change((page as { messages: { text?: string }[] }).messages) }),
  });
}

const lookFirst =
  'Before you send the message again, look for it among the newest messages of ' +
  'conversation(id: "channels/ca1/conversations/ca57"). Then use a new idempotencyKey.';

const outcomeUnknown = (idempotencyKey: string | null) => ({
  sendMessage: {
    __typename: 'OutcomeUnknown',
    message: `The response of the REST service was lost, so the write may or may not have happened. ${lookFirst}`,
    idempotencyKey,
  },
});

describe('sendMessage with a text', () => {
  test('sends and returns the text with one call', async () => {
    const { data, errors, calls } = await send('Hola, ¿en qué te ayudamos?');
    expect({ data, errors }).toEqual({
      data: {
        sendMessage: {
          __typename: 'SendMessageSuccess',
          sent: {
            id: expect.stringMatching(/^channels\/ca1\/conversations\/ca57\/messages\/m\d{3}$/),
            status: 'SENDING',
            contentType: 'TEXT',
            text: 'Hola, ¿en qué te ayudamos?',
            template: null,
            conversation: { id: conversation },
          },
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual([post]);
    expect(sandbox.requests.entries().map(({ body }) => body)).toEqual([
      { text: 'Hola, ¿en qué te ayudamos?' },
    ]);
  });

  test.each([
    ['emoji', '👩🏽‍🚀🇨🇴 ¡listo! 🙏'],
    ['right-to-left text', 'شكراً جزيلاً \u200f(١٢٣)\u200e — תודה'],
    ['combining marks', 'Iñigo\u0301 e\u0301'],
    ['line breaks, quotes and markup', 'uno\r\n"dos"\t\\n <b>{{1}}</b> \u2028'],
    ['4096 characters', 'x'.repeat(4096)],
  ])('sends %s unchanged', async (_what, text) => {
    const { data, calls } = await send(text);
    expect(data.sendMessage).toMatchObject({ __typename: 'SendMessageSuccess', sent: { text } });
    expect(calls).toEqual([post]);
    expect(sandbox.requests.entries().map(({ body }) => body)).toEqual([{ text }]);
    expect(await sentTimes(text)).toBe(1);
  });

  test('makes the text visible to the next read of the same operation', async () => {
    const { data, calls } = await ask(SendTwoAndReadDocument, { conversation });
    const newest = (...texts: string[]) => ({
      sent: { conversation: { messages: { nodes: texts.map((text) => ({ text })) } } },
    });
    expect(data).toEqual({ first: newest('uno', expect.any(String)), second: newest('dos', 'uno') });
    expect(calls).toEqual([post, `GET ${path}?pageSize=2`, post, `GET ${path}?pageSize=2`]);
  });

  test('makes the text visible even if the response to an earlier text was lost', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'applied-then-cut', times: 1 });
    const newest = 'sent { conversation { messages(first: 1) { nodes { text } } } }';
    const mutation = (text: string) =>
      `sendMessage(input: { conversation: "${conversation}", content: { text: "${text}" } })`;
    const { data, calls } = await ask<Record<string, unknown>, unknown>(`mutation {
      cut: ${mutation('cortado')} { __typename }
      after: ${mutation('después')} { ... on SendMessageSuccess { ${newest} } }
    }`);
    expect(data).toEqual({
      cut: { __typename: 'OutcomeUnknown' },
      after: { sent: { conversation: { messages: { nodes: [{ text: 'después' }] } } } },
    });
    expect(calls).toEqual([post, post, `GET ${path}?pageSize=1`]);
    expect(await sentTimes('cortado')).toBe(1);
  });
});

describe('sendMessage with an invalid input', () => {
  test.each([
    'ca57',
    'conversations/ca57',
    'channels/ca1',
    'channels/ca1/conversations/',
    'channels/../conversations/ca57',
    'channels/ca1/conversations/ca57/messages/m001',
    '__proto__',
    '',
  ])('rejects the invalid conversation id %j without a call', async (id) => {
    const { data, errors, calls } = await send('Hola', { conversation: id });
    const message = `must be the id of a conversation, "channels/<identifier>/conversations/<identifier>", but is ${JSON.stringify(id)}`;
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'InvalidInput',
          message: `The input is invalid, and nothing was written: conversation ${message}.`,
          fields: [{ path: 'conversation', message }],
        },
      },
      errors: undefined,
      calls: [],
    });
  });

  test('reports every invalid field in one result', async () => {
    const { data, calls } = await ask(SendMessageDocument, {
      input: {
        conversation: 'orders/ca2481',
        content: {
          template: {
            name: 'pedido_confirmado',
            language: 'es',
            headerParameters: null,
            bodyParameters: ['1', '2', '1', '1'].map((name) => ({ name, value: 'x' })),
          },
        },
        idempotencyKey: 'k'.repeat(256),
      },
    });
    expect(data.sendMessage).toMatchObject({
      __typename: 'InvalidInput',
      fields: [
        { path: 'conversation', message: expect.stringMatching(/^must be the id of a conversation/) },
        {
          path: 'content.template.headerParameters',
          message: 'must not be null: omit the field instead',
        },
        {
          path: 'content.template.bodyParameters',
          message: 'must contain each name only once, but contains "1" twice',
        },
        { path: 'idempotencyKey', message: 'must be 1 to 255 characters long, but has 256' },
      ],
    });
    expect(calls).toEqual([]);
  });

  test.each([
    ['content with no text and no template', {}],
    ['content with both a text and a template', { text: 'a', template: { name: 'b', language: 'es' } }],
    ['a null text', { text: null }],
  ])('causes a GraphQL error for %s', async (_what, content) => {
    const { data, errors, calls } = await ask<unknown, unknown>(
      'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { __typename } }',
      { input: { conversation, content } },
    );
    expect({ data, calls }).toEqual({ data: undefined, calls: [] });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/ at \.content.*"MessageContentInput"/),
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      }),
    ]);
  });
});

describe('a REST error of sendMessage', () => {
  test.each([
    ['an empty text', '', 'must have at least 1 character'],
    ['a text that is too long', 'x'.repeat(4097), 'must have at most 4096 characters'],
  ])('is reported with the input path: %s', async (_what, text, message) => {
    const { data, errors, calls } = await send(text);
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'InvalidInput',
          message: `The request is invalid: text ${message}`,
          fields: [{ path: 'content.text', message }],
        },
      },
      errors: undefined,
      calls: [post],
    });
  });

  test.each([
    ['JSON pointers', { title: 'No', errors: [{ pointer: '#/text', detail: 'is rude' }] }],
    ['a path that starts with "body"', { error: { details: [{ field: 'body.text', message: 'is rude' }] } }],
    [
      'fieldViolations',
      { error: { details: [{ fieldViolations: [{ field: 'text', description: 'is rude' }] }] } },
    ],
  ])('is reported with the input path if the response has %s', async (_what, body) => {
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status: 400, body });
    const { data, calls } = await send('Hola');
    expect(data.sendMessage).toMatchObject({
      __typename: 'InvalidInput',
      fields: [{ path: 'content.text', message: 'is rude' }],
    });
    expect(calls).toEqual([post]);
  });

  test.each([
    ['HTML', '<html><body>Bad Request</body></html>'],
    ['empty', undefined],
    [
      'a list of unknown fields',
      { error: { message: 'No', details: [{ field: 'x.y', message: 'is odd' }] } },
    ],
  ])('becomes InvalidInput if the response body is %s', async (_what, body) => {
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status: 400, body });
    const { data, errors, calls } = await send('Hola');
    const isNamed = typeof body === 'object';
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'InvalidInput',
          message: isNamed ? 'No' : `${post} returned 400.`,
          fields: isNamed ? [{ path: '', message: 'x.y is odd' }] : [],
        },
      },
      errors: undefined,
      calls: [post],
    });
  });

  test.each([
    ['a missing conversation', 'channels/ca1/conversations/ca999', undefined],
    ['a missing channel', 'channels/ca9/conversations/ca57', undefined],
    ["another merchant's conversation", conversation, sandbox.tokens.second],
  ])('becomes NotFound for %s', async (_what, id, bearer) => {
    const input = { conversation: id, content: { text: 'Hola' } };
    const { data, errors, calls } = await ask(SendMessageDocument, { input }, bearer);
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'NotFound',
          message: expect.stringMatching(/^channels\/[\w/]+ does not exist$/),
          missingId: id,
        },
      },
      errors: undefined,
      calls: [`POST /v1/${id}/messages`],
    });
  });

  test('becomes Conflict for an inactive channel', async () => {
    const id = 'channels/ca3/conversations/ca1';
    const { data, errors, calls } = await send('Hola', { conversation: id });
    expect({ data, errors, calls }).toEqual({
      data: { sendMessage: { __typename: 'Conflict', message: 'channels/ca3 is not active' } },
      errors: undefined,
      calls: [`POST /v1/${id}/messages`],
    });
  });

  test.each([
    [401, { code: 'UNAUTHENTICATED', retryable: false }],
    [403, { code: 'FORBIDDEN', retryable: false }],
    [429, { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 3000 }],
    [500, { code: 'UPSTREAM_ERROR', retryable: false }],
    [503, { code: 'UPSTREAM_UNAVAILABLE', retryable: false }],
  ])('becomes a field error if the status is %i', async (status, extensions) => {
    const headers = { 'retry-after': '3' };
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status, headers });
    // After 401, a server forgets what it has learned with the token.
    await using fresh = await startWaybill({}, { sandbox });
    const input = { conversation, content: { text: 'Hola' } };
    const { data, errors, calls } = await fresh.ask(SendMessageDocument, { input });
    expect(data).toEqual({ sendMessage: null });
    expect(errors).toEqual([
      expect.objectContaining({
        message: `${post} returned ${status}`,
        path: ['sendMessage'],
        extensions: { ...extensions, upstreamStatus: status },
      }),
    ]);
    expect(calls).toEqual([post]);
  });
});

describe('sendMessage without a readable response', () => {
  test('returns OutcomeUnknown with advice on how to find the message', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'reset' });
    const { data, errors, calls } = await send('¿Llegó?');
    expect({ data, errors, calls }).toEqual({
      data: outcomeUnknown(null),
      errors: undefined,
      calls: [post],
    });
  });

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'hang' });
    const input = { conversation, content: { text: '¿Llegó?' }, idempotencyKey: 'hurried' };
    const { data, errors, calls } = await hurried.ask(SendMessageDocument, { input });
    expect({ data, errors, calls }).toEqual({
      data: outcomeUnknown('hurried'),
      errors: undefined,
      calls: [post],
    });
  });

  test('does not resend the message on a retry with the same key', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'applied-then-cut', times: 1 });
    const first = await send('Una sola vez', { idempotencyKey: 'cut' });
    expect(first.data).toEqual(outcomeUnknown('cut'));
    expect(first.calls).toEqual([post]);
    const again = await send('Una sola vez', { idempotencyKey: 'cut' });
    expect(again.data).toEqual(outcomeUnknown('cut'));
    expect(again.calls).toEqual([]);
    expect(await sentTimes('Una sola vez')).toBe(1);
  });

  test('does not resend the message on a retry with the same key after a 500', async () => {
    sandbox.faults.add({ method: 'POST', path, kind: 'status', status: 500, times: 1 });
    const first = await send('500', { idempotencyKey: '500' });
    expect(first.data).toEqual({ sendMessage: null });
    expect(first.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_ERROR', retryable: false } }]);
    expect(first.calls).toEqual([post]);
    const again = await send('500', { idempotencyKey: '500' });
    expect(again.data).toEqual(outcomeUnknown('500'));
    expect(again.calls).toEqual([]);
    expect(await sentTimes('500')).toBe(0);
  });

  test.each([
    ['truncated JSON', { kind: 'cut-json' }],
    ['an empty object', { kind: 'change', change: () => ({}) }],
  ] as const)('does not resend the message on a retry with the same key after %s', async (what, fault) => {
    sandbox.faults.add({ method: 'POST', path, ...fault, times: 1 });
    const first = await send(what, { idempotencyKey: what });
    expect(first.data).toEqual(outcomeUnknown(what));
    expect(first.calls).toEqual([post]);
    const again = await send(what, { idempotencyKey: what });
    expect(again.data).toEqual(outcomeUnknown(what));
    expect(again.calls).toEqual([]);
    expect(await sentTimes(what)).toBe(1);
  });
});

describe('the idempotencyKey of sendMessage', () => {
  test('costs an organization call only the first time a token sends a key', async () => {
    await using fresh = await startWaybill({}, { sandbox });
    const costOf = async (idempotencyKey?: string, bearer?: string) => {
      const input = { conversation, content: { text: 'Hola' }, ...(idempotencyKey && { idempotencyKey }) };
      return (await fresh.ask(SendMessageDocument, { input }, bearer)).calls;
    };
    expect(await costOf()).toEqual([post]);
    expect(await costOf('merchant 1')).toEqual([organizationCall, post]);
    expect(await costOf('merchant 2')).toEqual([post]);
    const { firstRefreshed } = sandbox.tokens;
    expect(await costOf('merchant 3', firstRefreshed)).toEqual([organizationCall, post]);
    expect(await costOf('merchant 4', firstRefreshed)).toEqual([post]);
  });

  test('returns the current message for a repeated request', async () => {
    const first = await send('Gracias 💛', { idempotencyKey: 'thanks' });
    expect(first.calls).toEqual([post]);
    const again = await send('Gracias 💛', { idempotencyKey: 'thanks' });
    expect(again).toEqual({ ...first, calls: [newestPage] });
    changeNewestPage((rows) => rows.map((row) => ({ ...row, status: 'READ' })));
    const later = await send('Gracias 💛', { idempotencyKey: 'thanks' });
    expect(later.data.sendMessage).toMatchObject({ sent: { text: 'Gracias 💛', status: 'READ' } });
    expect(await sentTimes('Gracias 💛')).toBe(1);
  });

  test('returns the message to another token of the merchant', async () => {
    const input = { conversation, content: { text: 'Con otro token' }, idempotencyKey: 'refreshed' };
    const first = await send('Con otro token', input);
    const again = await ask(SendMessageDocument, { input }, sandbox.tokens.firstRefreshed);
    expect(again).toEqual({ ...first, calls: [organizationCall, newestPage] });
    expect(await sentTimes('Con otro token')).toBe(1);
  });

  test('returns the sent text on a retry even if the newest page of messages lacks it', async () => {
    const query = `mutation ($input: SendMessageInput!) { sendMessage(input: $input) {
      ... on SendMessageSuccess { sent { id createTime status contentType text body template { name } } }
    } }`;
    const sendOld = () =>
      ask(query, { input: { conversation, content: { text: 'Vieja' }, idempotencyKey: 'old' } });
    const first = await sendOld();
    expect(first.data).toMatchObject({ sendMessage: { sent: { text: 'Vieja', status: 'SENDING' } } });
    changeNewestPage((rows) => rows.filter(({ text }) => text !== 'Vieja'));
    expect(await sendOld()).toEqual({ ...first, calls: [newestPage] });
  });

  test('still returns the message after a read of the message has failed', async () => {
    const first = await send('No se lee', { idempotencyKey: 'unreadable' });
    sandbox.faults.add({ method: 'GET', path, kind: 'status', status: 503, times: 1 });
    const failed = await send('No se lee', { idempotencyKey: 'unreadable' });
    expect([failed.data, failed.calls]).toEqual([{ sendMessage: null }, [newestPage]]);
    expect(failed.errors).toMatchObject([
      {
        message: `${newestPage.replace(/\?.*/, '')} returned 503`,
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      },
    ]);
    expect(await send('No se lee', { idempotencyKey: 'unreadable' })).toEqual({
      ...first,
      calls: [newestPage],
    });
  });

  test('sends only one message for concurrent requests', async () => {
    const both = await Promise.all([1, 2].map(() => send('A la vez', { idempotencyKey: 'at once' })));
    expect(both[0]?.data.sendMessage.__typename).toBe('SendMessageSuccess');
    expect(both[1]?.data).toEqual(both[0]?.data);
    expect(sandbox.requests.lines()).toEqual([post]);
    expect(await sentTimes('A la vez')).toBe(1);
  });

  test.each([
    ['text', { content: { text: 'Otra cosa' } }],
    ['conversation', { conversation: 'channels/ca1/conversations/ca53' }],
  ])('returns Conflict without a call if a retry has a different %s', async (what, other) => {
    const key = { idempotencyKey: `another ${what}` };
    const first = await send('Una cosa', key);
    expect(first.calls).toEqual([post]);
    const { data, errors, calls } = await send('Una cosa', { ...key, ...other });
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'Conflict',
          message:
            'This idempotencyKey was used with another input. Nothing was written. Use a new key for a new write, or ' +
            'the original input to get the original result.',
        },
      },
      errors: undefined,
      calls: [],
    });
  });

  test.each([400, 404, 413, 429])(
    'can be used again after the REST service responds with %i',
    async (status) => {
      const key = { idempotencyKey: `refused with ${status}` };
      sandbox.faults.add({ method: 'POST', path, kind: 'status', status, times: 1 });
      const refused = await send('Otra vez', key);
      expect(refused.data.sendMessage?.__typename).not.toBe('SendMessageSuccess');
      expect(refused.calls).toEqual([post]);
      const again = await send('Otra vez', key);
      expect(again.data.sendMessage.__typename).toBe('SendMessageSuccess');
      expect(again.calls).toEqual([post]);
    },
  );

  test('sends a message for each request if it is null or missing', async () => {
    for (const key of [{ idempotencyKey: null }, {}]) {
      expect((await send('Cada vez', key)).calls).toEqual([post]);
    }
    expect(await sentTimes('Cada vez')).toBe(2);
  });
});

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { SendMessageInput } from '../../documents.generated.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { answerAsPromised, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { tooManyWrites } from '../../fixtures/too-many-writes.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;
await learnMerchants(waybill, sandbox.tokens.first);
afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const [one, other] = ['channels/ca1/conversations/ca57', 'channels/ca1/conversations/ca60'];
const post = (conversation: string) => `POST /v1/${conversation}/messages`;

const document = `mutation SendMessages($inputs: [SendMessageInput!]!) {
  sendMessages(inputs: $inputs) {
    __typename
    ... on SendMessageSuccess { sent { id text } }
    ... on InvalidInput { fields { path } }
    ... on NotFound { missingId path }
    ... on Conflict { reason }
    ... on OutcomeUnknown { idempotencyKey }
    ... on WriteFailed { code }
  }
}`;
interface Result {
  __typename: string;
  sent?: { id: string; text: string };
}
const send = (...inputs: SendMessageInput[]) =>
  ask<{ sendMessages: Result[] | null }, object>(document, { inputs });
const text = (
  conversation: string,
  words: string,
  more: Partial<SendMessageInput> = {},
): SendMessageInput => ({
  conversation,
  content: { text: words },
  ...more,
});
const sent = (words: string) => ({
  __typename: 'SendMessageSuccess',
  sent: { id: expect.any(String), text: words },
});
/** The texts that REST received for a conversation, in the order of arrival. */
const received = (conversation: string) =>
  sandbox.requests
    .entries()
    .filter(({ path }) => path === `/v1/${conversation}/messages`)
    .map(({ body }) => Object(body).text);

describe('sendMessages', () => {
  test('returns one result per input, in input order', async () => {
    const { data, errors, calls } = await send(
      text(one, 'uno'),
      text('ca57', 'bare'),
      text('channels/ca1/conversations/none', 'lost'),
      text(other, 'dos'),
    );
    expect({ data, errors }).toEqual({
      data: {
        sendMessages: [
          sent('uno'),
          { __typename: 'InvalidInput', fields: [{ path: 'conversation' }] },
          {
            __typename: 'NotFound',
            missingId: 'channels/ca1/conversations/none',
            path: 'conversation',
          },
          sent('dos'),
        ],
      },
      errors: undefined,
    });
    expect(calls.sort()).toEqual([post(one), post(other), post('channels/ca1/conversations/none')].sort());
  });

  test('sends the messages to one conversation one after the other', async () => {
    const held: { conversation: string; text: string; give(): void }[] = [];
    await using app = await startApp((request, response, body) => {
      const [, conversation = ''] = /^\/v1\/(.*)\/messages$/.exec(request.url ?? '') ?? [];
      if (request.method !== 'POST') return answerAsPromised(request, response, body);
      const { text }: { text: string } = JSON.parse(body);
      const message = {
        name: `${conversation}/messages/${text}`,
        status: 'SENDING',
        contentType: 'TEXT',
        text,
      };
      const give = () =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
      return held.push({ conversation, text, give });
    });
    const field = (conversation: string, text: string) =>
      `{ conversation: "${conversation}", content: { text: "${text}" } }`;
    const inputs = ['1', '2', '3'].map((number) => field(one, number)).concat(field(other, '4'));
    const answer = app.ask(
      `mutation { sendMessages(inputs: [${inputs}]) { ... on SendMessageSuccess { sent { text } } } }`,
    );
    const sequence: string[] = [];
    await until(() => held.length === 2);
    while (held.length > 0) {
      sequence.push(
        held
          .map(({ text }) => text)
          .sort()
          .join(' and '),
      );
      for (const { give } of held.splice(0)) give();
      if (sequence.length < 3) await until(() => held.length > 0);
    }
    expect(sequence).toEqual(['1 and 4', '2', '3']);
    expect((await answer).data).toEqual({
      sendMessages: ['1', '2', '3', '4'].map((text) => ({ sent: { text } })),
    });
  });

  test('goes on after a message that fails', async () => {
    sandbox.faults.add({
      kind: 'status',
      status: 429,
      method: 'POST',
      path: `/v1/${one}/messages`,
      times: 1,
    });
    const { data, errors } = await send(text(one, 'primero'), text(one, 'segundo'));
    expect({ data, errors }).toEqual({
      data: { sendMessages: [{ __typename: 'WriteFailed', code: 'RATE_LIMITED' }, sent('segundo')] },
      errors: undefined,
    });
    expect(received(one)).toEqual(['primero', 'segundo']);
  });

  test('is null with the error if all messages fail with the same code', async () => {
    sandbox.faults.add({ kind: 'status', status: 429, method: 'POST' });
    const { data, errors } = await send(text(one, 'uno'), text(other, 'dos'));
    expect(data).toEqual({ sendMessages: null });
    expect(errors).toMatchObject([{ path: ['sendMessages'], extensions: { code: 'RATE_LIMITED' } }]);
  });

  test('returns the idempotencyKey of an input if the response is lost', async () => {
    sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: `/v1/${one}/messages`, times: 1 });
    const { data } = await send(text(one, 'a', { idempotencyKey: 'lost a' }), text(other, 'b'));
    expect(data.sendMessages).toEqual([
      { __typename: 'OutcomeUnknown', idempotencyKey: 'lost a' },
      sent('b'),
    ]);
  });

  test('sends one message per key, even if a list or a retry repeats the key', async () => {
    const inputs = [
      text(one, 'con llave', { idempotencyKey: 'key 1' }),
      text(one, 'con llave', { idempotencyKey: 'key 1' }),
      text(one, 'otro texto', { idempotencyKey: 'key 1' }),
      text(other, 'con llave', { idempotencyKey: 'key 2' }),
    ];
    const first = await send(...inputs);
    const results = first.data.sendMessages;
    expect(results).toEqual([
      sent('con llave'),
      results?.[0],
      { __typename: 'Conflict', reason: 'KEY_REUSED' },
      sent('con llave'),
    ]);
    expect(first.calls.filter((call) => call.startsWith('POST')).sort()).toEqual([post(one), post(other)]);
    const retried = await send(...inputs);
    expect(retried.data.sendMessages).toEqual(results);
    expect(retried.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
  });

  test('reads the templates of a channel once for all messages', async () => {
    const template = { name: 'gracias_por_tu_compra', language: 'es' };
    const { data, calls } = await send(
      { conversation: one, content: { template } },
      { conversation: other, content: { template } },
    );
    expect(data.sendMessages?.map(({ __typename }) => __typename)).toEqual([
      'SendMessageSuccess',
      'SendMessageSuccess',
    ]);
    expect(calls.filter((call) => call.startsWith('GET'))).toEqual([
      'GET /v1/channels/ca1/templates?pageSize=100',
    ]);
  });

  test('returns an empty list without a call for an empty list', async () => {
    const { data, errors, calls } = await send();
    expect([data, errors, calls]).toEqual([{ sendMessages: [] }, undefined, []]);
  });

  test('accepts 100 inputs', async () => {
    const words = Array.from({ length: 100 }, (_, index) => `mensaje ${index}`);
    const { data, calls } = await send(...words.map((each) => text(one, each)));
    expect(data.sendMessages).toEqual(words.map(sent));
    expect([received(one), calls]).toEqual([words, words.map(() => post(one))]);
  });

  test('rejects 101 inputs without a call', async () => {
    const inputs = Array.from({ length: 101 }, () => text(one, 'más'));
    expect(await send(...inputs)).toMatchObject(tooManyWrites(101));
  });
});

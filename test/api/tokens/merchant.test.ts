import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { organizationCall } from '../../fixtures/learn-merchant.ts';
import { inputFor, literal, takesKey } from '../../fixtures/mutation-inputs.ts';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const { sandbox, ...first } = await startWaybill();
afterEach(() => sandbox.faults.clear());
afterAll(() => first[Symbol.asyncDispose]());

const { tokens } = sandbox;
const failOrganization = (fault: Fault) => sandbox.faults.add({ path: '/v1/organizations/mine', ...fault });
/** A server that knows no merchant yet, over the same sandbox. */
const startCold = () => startWaybill({}, { sandbox });

const post = 'POST /v1/channels/ca1/messages';
/** A mutation for a text with this key. */
const send = (key: string) => `mutation { sendMessageToPhone(input: {
  channel: "ca1", phone: "+573104567890", name: "Lucía", text: "Hola", idempotencyKey: "${key}"
}) { ... on SendMessageSuccess { sent { id } } ... on UserError { message } } }`;
const sent = { sendMessageToPhone: { sent: { id: expect.any(String) } } };

describe('while the organization of a token cannot be read', () => {
  test.each<[string, Fault]>([
    ['503', { kind: 'status', status: 503, body: { message: 'canary of REST' } }],
    ['500', { kind: 'status', status: 500, body: { message: 'canary of REST' } }],
    ['no answer', { kind: 'reset' }],
    ['garbage', { kind: 'cut-json' }],
  ])('a write with a key is refused, retryable, and not sent: %s', async (what, fault) => {
    await using cold = await startCold();
    failOrganization({ ...fault, times: 1 });
    const refused = await cold.ask(send(what));
    expect(refused.data).toEqual({ sendMessageToPhone: null });
    expect(refused.errors).toMatchObject([
      {
        message: expect.stringMatching(
          /^The organization of this access token cannot be read: .*Nothing was sent\./,
        ),
        path: ['sendMessageToPhone'],
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      },
    ]);
    expect(JSON.stringify(refused.errors)).not.toContain('canary');
    expect(refused.calls).toEqual([organizationCall]);
    expect(await cold.ask(send(what))).toMatchObject({ data: sent, calls: [organizationCall, post] });
  });

  test('a write without a key, and a query, do not ask for it', async () => {
    await using cold = await startCold();
    failOrganization({ kind: 'status', status: 503 });
    const document = send('').replace(', idempotencyKey: ""', '');
    expect(await cold.ask(document)).toMatchObject({ data: sent, calls: [post] });
    expect((await cold.ask('{ orders(first: 1) { nodes { id } } }')).calls).toEqual([
      'GET /v1/orders?pageSize=1',
    ]);
  });

  test('shipOrder is refused without a key, too', async () => {
    await using cold = await startCold();
    failOrganization({ kind: 'status', status: 503 });
    const input = literal({ ...inputFor('shipOrder'), order: 'ca2496' });
    const { data, errors, calls } = await cold.ask(`mutation { shipOrder(input: ${input}) { __typename } }`);
    expect([data, calls]).toEqual([{ shipOrder: null }, [organizationCall]]);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }]);
  });

  test('a 404 is refused once another token has shown the organization', async () => {
    await using cold = await startCold();
    expect((await cold.ask(send('shown'))).data).toEqual(sent);
    failOrganization({ kind: 'status', status: 404 });
    const { errors, calls } = await cold.ask(send('after 404'), {}, tokens.second);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }]);
    expect(calls).toEqual([organizationCall]);
    // The merchant of the first token is known.
    expect(await cold.ask(send('known'))).toMatchObject({ data: sent, calls: [post] });
  });
});

describe('a token whose organization REST refuses', () => {
  test.each([403, 404])('is the merchant: %i', async (status) => {
    await using cold = await startCold();
    failOrganization({ kind: 'status', status });
    const one = await cold.ask(send(`refused ${status}`));
    expect(one).toMatchObject({ data: sent, calls: [organizationCall, post] });
    const other = await cold.ask(send(`refused ${status}`), {}, tokens.firstRefreshed);
    expect(other).toMatchObject({ data: sent, calls: [organizationCall, post] });
    expect(other.data).not.toEqual(one.data);
    const again = await cold.ask(send(`refused ${status}`));
    expect(again.data).toEqual(one.data);
    expect(again.calls).toEqual(['GET /v1/channels/ca1/conversations/ca60/messages?pageSize=100']);
  });
});

test('a 401 makes the server ask again for the merchant of its token', async () => {
  await using cold = await startCold();
  expect((await cold.ask(send('before 401'))).calls).toEqual([organizationCall, post]);
  sandbox.faults.add({ method: 'GET', path: '/v1/orders', kind: 'status', status: 401, times: 1 });
  await cold.ask('{ orders(first: 1) { nodes { id } } }');
  expect((await cold.ask(send('after 401'))).calls).toEqual([organizationCall, post]);
});

test('50 first writes of a token at the same time ask for the merchant once', async () => {
  await using cold = await startCold();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => cold.ask(send(`at once ${index}`))),
  );
  expect(answers.map(({ data }) => data)).toEqual(answers.map(() => sent));
  const lines = sandbox.requests.lines();
  expect(lines.filter((line) => line === organizationCall)).toEqual([organizationCall]);
});

test('an open circuit of the organization is an unknown merchant, and nothing is sent', async () => {
  await using waybill = await startApp(answerJson({}, 503));
  for (let time = 0; time < 10; time += 1) {
    for (const bearer of ['ana', 'eva']) await waybill.ask(send('a'), bearer);
  }
  expect((await waybill.ask(send('a'), 'ida')).errors).toMatchObject([
    { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
  ]);
  expect(waybill.calls()).toEqual(Array(20).fill(organizationCall));
});

describe('an invalid input with a key costs no call, not even for the merchant', () => {
  const mutations = [
    'createOrder',
    'createQuote',
    'createShipment',
    'sendMessage',
    'sendMessageToPhone',
    'shipOrder',
  ];
  const idField: Record<string, object> = {
    createOrder: { recipient: { ...Object(inputFor('createOrder').recipient), location: '..' } },
    createQuote: { origin: '..' },
    createShipment: { quote: '..' },
    sendMessage: { conversation: '..' },
    sendMessageToPhone: { channel: '..' },
    shipOrder: { order: '..' },
  };

  test.each(mutations)('%s', async (mutation) => {
    expect(takesKey(mutation)).toBe(true);
    await using cold = await startCold();
    const input = literal({ ...inputFor(mutation), ...idField[mutation], idempotencyKey: 'invalid' });
    const { data, calls } = await cold.ask(`mutation { ${mutation}(input: ${input}) { __typename } }`);
    expect(data).toEqual({ [mutation]: { __typename: 'InvalidInput' } });
    expect(calls).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { type KeyedResult, keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { learnMerchants, otherInputMessage } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

// A repeated key gives its result by reading the names that it has stored.

/** Starts a server that knows the merchant of the token. */
async function start(): Promise<Waybill> {
  const waybill = await startWaybill({}, { processingMs: 50 });
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
  return waybill;
}

const run = (waybill: Waybill, name: string, input: object, document = keyedMutation(name).document) =>
  waybill.ask<KeyedResult, { input: object }>(document, { input });

/** Runs a mutation for the first time. @returns its input and its result. */
async function runFirst(waybill: Waybill, name: string, fields: object = {}) {
  const newInput = await keyedMutation(name).newInput(waybill);
  const input = { ...newInput, idempotencyKey: 'restored', ...fields };
  const { data } = await run(waybill, name, input);
  if (!data.result.__typename.endsWith('Success')) throw new Error(JSON.stringify(data));
  return { input, data };
}

/** Returns the id of the record with this name in a result. */
function idIn({ result }: KeyedResult, field: string): string {
  const id = new RegExp(`"${field}":\\{"id":"([^"]+)"`).exec(JSON.stringify(result))?.[1];
  if (id === undefined) throw new Error(`no ${field} in ${JSON.stringify(result)}`);
  return id;
}

/** The error of a record that the token can't read now. */
const missing = (name: string) => ({
  message: expect.stringContaining(`GET /v1/${name} returned 404`),
  path: expect.arrayContaining(['result']),
  extensions: expect.objectContaining({ code: 'NOT_FOUND', retryable: false }),
});

const withIdsOnly: Record<string, string> = {
  createQuote: `mutation ($input: CreateQuoteInput!) {
    result: createQuote(input: $input) { __typename ... on CreateQuoteSuccess { quote { id } } }
  }`,
  shipOrder: `mutation ($input: ShipOrderInput!) {
    result: shipOrder(input: $input) {
      __typename
      ... on ShipOrderSuccess { order { id } quote { id } offer { courier { id } } shipment { id status } }
    }
  }`,
};

describe.each(['createQuote', 'shipOrder'])('an expired quote of %s', (name) => {
  test('causes an error in a keyed retry that selects more than the id of the quote', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, name);
    const quote = idIn(data, 'quote');
    const heal = waybill.sandbox.faults.add({ kind: 'status', status: 404, path: `/v1/${quote}` });
    const failed = await run(waybill, name, input);
    expect(failed.errors).toEqual([expect.objectContaining(missing(quote))]);
    heal();
    expect((await run(waybill, name, input)).data).toEqual(data);
  });

  test('causes no error in a keyed retry that selects only the id of the quote', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, name);
    const quote = idIn(data, 'quote');
    waybill.sandbox.faults.add({ kind: 'status', status: 404, path: `/v1/${quote}` });
    const again = await run(waybill, name, input, withIdsOnly[name]);
    expect(again.errors).toBeUndefined();
    expect(again.data.result).toMatchObject({ quote: { id: quote } });
    expect(again.calls).not.toContain(`GET /v1/${quote}`);
  });
});

describe('the message of a keyed retry', () => {
  const page = 'GET /v1/channels/ca1/conversations/ca53/messages?pageSize=100';
  const contents: [string, object][] = [
    ['text', { text: 'Ya salió el pedido' }],
    [
      'template',
      {
        template: {
          name: 'pedido_confirmado',
          language: 'es',
          headerParameters: [{ name: '1', value: '1001' }],
          bodyParameters: ['Lucía', '2 kg de café', '$ 95.000', 'Medellín'].map((value, index) => ({
            name: String(index + 1),
            value,
          })),
        },
      },
    ],
  ];
  const document = `mutation ($input: SendMessageInput!) {
    result: sendMessage(input: $input) {
      __typename
      ... on SendMessageSuccess {
        sent { id createTime contentType text status body template { name language } conversation { id } }
      }
    }
  }`;

  test('has the current status if the newest page of messages contains it', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, 'sendMessage');
    expect(data.result).toMatchObject({ sent: { status: 'SENDING' } });
    waybill.sandbox.clock.advance(60_000);
    const again = await run(waybill, 'sendMessage', input);
    expect(again.data.result).toMatchObject({
      sent: { status: expect.stringMatching(/^(SENT|DELIVERED|READ)$/) },
    });
    expect(again.calls).toEqual([page]);
  });

  test.each(contents)(
    'equals the first result if the newest page no longer contains it: %s',
    async (_what, content) => {
      await using waybill = await start();
      const conversation = 'channels/ca1/conversations/ca53';
      const input = { conversation, content, idempotencyKey: 'old' };
      const first = await run(waybill, 'sendMessage', input, document);
      for (let count = 0; count < 100; count += 1) {
        await run(waybill, 'sendMessage', { conversation, content: { text: `Otro ${count}` } });
      }
      const again = await run(waybill, 'sendMessage', input, document);
      expect(again.data).toEqual(first.data);
      expect(again.data.result).toMatchObject({ sent: { status: 'SENDING' } });
      expect(again.calls.filter((call) => !call.includes('/templates'))).toEqual([page]);
    },
  );

  test('of sendMessageToPhone equals the first result if the newest page lacks it', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, 'sendMessageToPhone');
    const conversation = idIn(data, 'conversation');
    waybill.changeAnswer(`/v1/${conversation}/messages`, { messages: [] });
    const again = await run(waybill, 'sendMessageToPhone', input);
    expect(again.data).toEqual(data);
    expect(again.calls).toEqual([`GET /v1/${conversation}/messages?pageSize=100`]);
  });
});

describe.each([
  ['createOrder', 'order'],
  ['createShipment', 'shipment'],
  ['shipOrder', 'shipment'],
])('a result of %s whose read returns 404', (name, field) => {
  test('causes an error with the id of the result', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, name);
    const record = idIn(data, field);
    waybill.sandbox.faults.add({ kind: 'status', status: 404, path: `/v1/${record}` });
    const { errors, calls } = await run(waybill, name, input);
    expect(errors).toEqual([expect.objectContaining(missing(record))]);
    // REST may show a new record late.
    expect(calls).toEqual([`GET /v1/${record}`, `GET /v1/${record}`]);
  });

  test('is returned if a second read finds the record', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, name);
    const record = idIn(data, field);
    waybill.sandbox.faults.add({ kind: 'status', status: 404, path: `/v1/${record}`, times: 1 });
    const again = await run(waybill, name, input);
    expect(again.data).toEqual(data);
    expect(again.calls.filter((call) => call === `GET /v1/${record}`)).toHaveLength(2);
  });

  test('does not free the idempotency key', async () => {
    await using waybill = await start();
    const { input, data } = await runFirst(waybill, name);
    const record = idIn(data, field);
    const heal = waybill.sandbox.faults.add({ kind: 'status', status: 404, path: `/v1/${record}` });
    await run(waybill, name, input);
    const fields = name === 'createOrder' ? { notes: 'Otra' } : { requiresPickup: false };
    const other = await run(waybill, name, { ...input, ...fields });
    expect(other.data.result).toEqual({ __typename: 'Conflict', message: otherInputMessage });
    heal();
    expect((await run(waybill, name, input)).data).toEqual(data);
  });
});

describe('createShipment with an idempotency key', () => {
  test('locks the quote across tokens and servers', async () => {
    await using one = await startWaybill({}, { keyStore: memoryStore });
    const { sandbox } = one;
    await using other = await startWaybill({}, { keyStore: memoryStore, sandbox });
    const { first, firstRefreshed } = sandbox.tokens;
    await learnMerchants(one, first, firstRefreshed);
    await learnMerchants(other, first, firstRefreshed);
    const { order } = await orderToShip(one);
    const newInput = await keyedMutation('createShipment').newInput(one);
    const input = { ...newInput, quote: await quoteOf(one, order), courier: 'couriers/tres-cordilleras' };
    sandbox.faults.add({ kind: 'delay', delayMs: 400, method: 'POST', path: '/v1/shipments', times: 1 });
    const posts = () => sandbox.requests.lines().filter((line) => line === 'POST /v1/shipments').length;
    const { document } = keyedMutation('createShipment');
    const ship = (server: Waybill, idempotencyKey: string, bearer: string) =>
      server.ask<KeyedResult, { input: object }>(document, { input: { ...input, idempotencyKey } }, bearer);
    const running = ship(one, 'a', first);
    await until(() => posts() === 1);
    const waiting = [
      ship(one, 'b', firstRefreshed),
      ship(other, 'c', first),
      ship(other, 'd', firstRefreshed),
    ];
    const firstToEnd = await Promise.race([running, ...waiting]);
    expect(firstToEnd.data.result.__typename).toBe('CreateShipmentSuccess');
    const ended = await Promise.all(waiting);
    expect(ended.map(({ data }) => data.result.__typename)).toEqual(['Conflict', 'Conflict', 'Conflict']);
  });

  /** Creates a quote for an order. */
  async function quoteOf({ ask }: Waybill, order: string): Promise<string> {
    const { data } = await ask<KeyedResult, { input: object }>(keyedMutation('createQuote').document, {
      input: {
        origin: 'locations/huila-pitalito',
        destination: 'locations/antioquia-medellin-laureles',
        cashOnDeliveryRequestCents: 5_000_000,
        package: parcel,
        order,
      },
    });
    return idIn(data, 'quote');
  }
});

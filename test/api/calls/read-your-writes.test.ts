import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createLoaders, type Loaders } from '../../../src/loaders/loaders.ts';
import { createLoaderStates } from '../../../src/loaders/tenant-state.ts';
import { createIdempotency } from '../../../src/writes/idempotency.ts';
import { createMerchants } from '../../../src/writes/merchant.ts';
import { createWrites, type Writes } from '../../../src/writes/writes.ts';
import {
  type CreateOrderInput,
  type CreateQuoteInput,
  CreateTwoOrdersDocument,
} from '../../documents.generated.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { order, post } from '../../fixtures/order-to-create.ts';
import { startRestClient, until } from '../../fixtures/rest-service.ts';
import { startWaybill } from '../../harness.ts';

const loading = readConfig({});

const raise = (error: unknown) => {
  throw error;
};

const list = 'GET /v1/orders?pageSize=10&search=+573001112233';
/** The first order that a sandbox records. */
const id = 'orders/ca2501';
const quoteInput: CreateQuoteInput = {
  origin: 'locations/huila-pitalito',
  destination: 'locations/narino-pasto',
  package: {
    declaredValueCents: 9_500_000,
    dimensions: { lengthCm: 30, widthCm: 20, heightCm: 12 },
    weightKg: 2.2,
    contentDescription: 'Café',
  },
  order: id,
};
const of = (notes: string): CreateOrderInput => ({ ...order, notes });
/** An order among those of its recipient, newest first. */
const among = (own: string, ...all: [id: string, notes: string][]) => ({
  __typename: 'CreateOrderSuccess',
  order: { id: own, recipient: { orders: { nodes: all.map(([id, notes]) => ({ id, notes })) } } },
});

const orderThenQuote = `mutation ($order: CreateOrderInput!, $quote: CreateQuoteInput!) {
  createOrder(input: $order) { ... on CreateOrderSuccess { order { id } } }
  createQuote(input: $quote) { ... on CreateQuoteSuccess { quote { order { notes customerReliability } } } }
}`;

describe('a read after createOrder in the same request', () => {
  test('returns every order created so far', async () => {
    await using waybill = await startWaybill();
    const { data, errors, calls } = await waybill.ask(CreateTwoOrdersDocument, {
      first: of('Primera'),
      second: of('Segunda'),
    });
    expect([data, errors]).toEqual([
      {
        first: among(id, [id, 'Primera']),
        second: among('orders/ca2502', ['orders/ca2502', 'Segunda'], [id, 'Primera']),
      },
      undefined,
    ]);
    expect(calls).toEqual([post, list, post, list]);
  });

  test('needs no call for the new order', async () => {
    await using waybill = await startWaybill();
    const answer = await waybill.ask(orderThenQuote, { order: of('Primera'), quote: quoteInput });
    expect(answer).toEqual({
      status: 200,
      data: {
        createOrder: { order: { id } },
        createQuote: { quote: { order: { notes: 'Primera', customerReliability: 'NO_ORDERS' } } },
      },
      errors: undefined,
      calls: [post, 'POST /v1/quotes'],
    });
  });

  test('returns an order whose creation ended with OutcomeUnknown', async () => {
    await using waybill = await startWaybill();
    // The first goes well.
    waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'delay', delayMs: 0, times: 1 });
    waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'applied-then-cut' });
    const document = `mutation ($first: CreateOrderInput!, $second: CreateOrderInput!, $quote: CreateQuoteInput!) {
      first: createOrder(input: $first) { ... on CreateOrderSuccess { order { ...OrdersOfRecipient } } }
      second: createOrder(input: $second) { __typename }
      createQuote(input: $quote) { ... on CreateQuoteSuccess { quote { order { ...OrdersOfRecipient } } } }
    }
    fragment OrdersOfRecipient on Order { recipient { orders(first: 10) { nodes { id } } } }`;
    const { data, errors, calls } = await waybill.ask(document, {
      first: of('Primera'),
      second: of('Segunda'),
      quote: quoteInput,
    });
    const orders = (...ids: string[]) => ({
      order: { recipient: { orders: { nodes: ids.map((id) => ({ id })) } } },
    });
    expect([data, errors]).toEqual([
      {
        first: orders(id),
        second: { __typename: 'OutcomeUnknown' },
        createQuote: { quote: orders('orders/ca2502', id) },
      },
      undefined,
    ]);
    expect(calls).toEqual([post, list, post, 'POST /v1/quotes', list]);
  });

  test('returns an order that a retry with the same key has found', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'applied-then-cut', times: 1 });
    const lost = { ...of('Primera'), idempotencyKey: 'lost', referenceId: 'lost' };
    const { data, errors, calls } = await waybill.ask(CreateTwoOrdersDocument, { first: lost, second: lost });
    expect([data, errors]).toEqual([
      { first: { __typename: 'OutcomeUnknown' }, second: among(id, [id, 'Primera']) },
      undefined,
    ]);
    expect(calls).toEqual([organizationCall, post, 'GET /v1/orders?pageSize=1000&search=lost', list]);
  });
});

describe('the mutations of one request', () => {
  test('run one after the other', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'delay', delayMs: 30 });
    const variables = { order: of('Primera'), quote: quoteInput };
    const { data, calls } = await waybill.ask(orderThenQuote, variables);
    expect(data).toMatchObject({ createQuote: { quote: { order: { notes: 'Primera' } } } });
    expect(calls).toEqual([post, 'POST /v1/quotes']);
  });

  test('continue after a mutation that returns InvalidInput', async () => {
    await using waybill = await startWaybill();
    const { data, calls } = await waybill.ask(CreateTwoOrdersDocument, {
      first: of(''),
      second: of('Segunda'),
    });
    expect(data).toEqual({ first: { __typename: 'InvalidInput' }, second: among(id, [id, 'Segunda']) });
    expect(calls).toEqual([post, list]);
  });

  test('continue after a mutation that fails', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'status', status: 503, times: 1 });
    const { data, errors, calls } = await waybill.ask(CreateTwoOrdersDocument, {
      first: of('Primera'),
      second: of('Segunda'),
    });
    expect([data, errors?.map(({ path }) => path)]).toEqual([
      { first: null, second: among(id, [id, 'Segunda']) },
      [['first']],
    ]);
    expect(calls).toEqual([post, post, list]);
  });
});

describe('a request that waits for a concurrent request with the same key', () => {
  const { location: _, ...person } = order.recipient;
  const shipment = {
    quote: 'quotes/1',
    courier: 'couriers/1',
    origin: 'origins/1',
    recipient: person,
    requiresPickup: true,
  };
  const conversation = {
    name: 'channels/1/conversations/1',
    channel: 'channels/1',
    conversation: '1',
  } as const;

  test.each<{
    name: string;
    write(writes: Writes): Promise<unknown>;
    read(loaders: Loaders): Promise<unknown>;
    line: string;
    /** The reads before the POST. */
    reads?: string[];
  }>([
    {
      name: 'orders/1',
      write: ({ createOrder }) => createOrder(order, 'k'),
      read: ({ orderPage }) => orderPage.load({ pageSize: 1 }),
      line: 'GET /v1/orders?pageSize=1',
    },
    {
      name: 'shipments/1',
      write: ({ createShipment }) => createShipment(shipment, 'k'),
      read: ({ shipmentPage }) => shipmentPage.load({ pageSize: 1 }),
      line: 'GET /v1/shipments?pageSize=1',
      reads: ['GET /v1/quotes/1'],
    },
    {
      name: 'channels/1/conversations/1/messages/1',
      write: ({ sendMessage }) => sendMessage(conversation, { text: 'Hola' }, 'k', async () => {}),
      read: ({ messagePage }) => messagePage.load({ ...conversation, pageSize: 1 }),
      line: 'GET /v1/channels/1/conversations/1/messages?pageSize=1',
    },
  ])(
    'reads lists again after the other request has written $name',
    async ({ name, write, read, line, reads = [] }) => {
      const listed = { name: 'organization/1', orders: [], shipments: [], messages: [] };
      const held: ServerResponse[] = [];
      await using rest = await startRestClient((request, response) => {
        if (request.method === 'POST') held.push(response);
        else response.end(JSON.stringify(request.url === '/v1/quotes/1' ? { name: 'quotes/1' } : listed));
      });
      const merchants = createMerchants({
        api: rest.api,
        store: memoryStore,
        service: rest.service.url.href,
      });
      const idempotency = createIdempotency({ store: memoryStore, merchants, report: raise });
      const operation = () => {
        const callContext = rest.callContext();
        const loaders = createLoaders(rest.api, callContext, createLoaderStates(loading));
        return { loaders, writes: createWrites({ api: rest.api, callContext, loaders, idempotency }) };
      };
      const [one, other] = [operation(), operation()];
      await read(other.loaders);
      await read(other.loaders);
      const written = Promise.all([write(one.writes), write(other.writes)]);
      await until(() => held.length === 1);
      held[0]?.end(JSON.stringify({ name }));
      expect(await written).toEqual([{ name }, { name }]);
      await read(other.loaders);
      const lines = rest.service.requests.map((request) => request.line);
      expect(lines).toEqual([line, organizationCall, ...reads, expect.stringMatching(/^POST /), line]);
    },
  );
});

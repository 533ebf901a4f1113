import { describe, expect, test } from 'vitest';
import { createRestApi } from '../../../src/rest/api.ts';
import { createRestClient } from '../../../src/rest/client/client.ts';
import { createDriftWatch, type DriftWatchOptions } from '../../../src/rest/watch/schema-drift.ts';
import { type ResourceKind, wireSchemas } from '../../../src/rest/wire-schema.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { bearer, parameterNames } from '../../fixtures/rest-service.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { newOrder } from '../../rest/bodies.ts';

const address = {
  regionCode: 'CO',
  administrativeArea: 'Antioquia',
  locality: 'Medellín',
  addressLines: ['Calle 10 # 5-51', 'Apto 301'],
  organization: '',
};
const recipient = {
  firstName: 'José',
  lastName: 'Ñáñez',
  documentType: null,
  document: null,
  email: 'jose@example.com',
  phoneNumber: '+573001234567',
  address,
  location: 'locations/antioquia-medellin',
};
const order = {
  name: 'orders/7',
  createTime: '2026-11-02T14:00:00Z',
  updateTime: '2026-11-02T14:00:00Z',
  status: 'NEW',
  recipient,
  contentDescription: 'Café',
  notes: 'Portería',
  sellingPriceCents: 1,
  cashOnDeliveryRequestCents: 0,
  customerReliability: 'RELIABLE',
  customerBehavior: {
    totalShipments: 1,
    deliveredShipments: 1,
    returnedShipments: 0,
    reliability: 'RELIABLE',
  },
  fulfiller: 'waybill',
};

/** A watch, and what it has counted and told: `Order.status: unknown value`. */
function watch(options: Partial<DriftWatchOptions> = {}) {
  const counted: string[] = [];
  const told: string[] = [];
  const drift = createDriftWatch({
    onDifference: (coordinate, kind) => counted.push(`${coordinate}: ${kind}`),
    onNewDifference: (coordinate, kind) => told.push(`${coordinate}: ${kind}`),
    now: () => 0,
    ...options,
  });
  return { drift, counted, told };
}

describe('the schema drift watch', () => {
  test.each<[string, ResourceKind, unknown, string[]]>([
    ['a valid order', 'orders', order, []],
    ['an empty optional field', 'orders', { ...order, shipment: null, paymentMethods: [] }, []],
    ['an unknown enum value', 'orders', { ...order, status: 'LOST' }, ['Order.status: unknown value']],
    [
      'an enum value that is a name in Object.prototype',
      'orders',
      { ...order, status: 'constructor' },
      ['Order.status: unknown value'],
    ],
    ['a missing required field', 'orders', { ...order, notes: undefined }, ['Order.notes: missing']],
    ['a required field that is null', 'orders', { ...order, notes: null }, ['Order.notes: missing']],
    [
      'a missing required field of a nested object',
      'orders',
      { ...order, recipient: { ...recipient, location: undefined } },
      ['Order.recipient.location: missing'],
    ],
    [
      'times in the forms that the graph reads',
      'orders',
      { ...order, createTime: '20260115T103000Z', updateTime: '2026-01-15 10:30:00+00' },
      [],
    ],
    [
      'times without a zone or a day',
      'orders',
      { ...order, createTime: '2026-01-15T10:30:00', updateTime: '2026-02-30T10:30:00Z' },
      ['Order.createTime: invalid value', 'Order.updateTime: invalid value'],
    ],
    [
      'an empty required time',
      'messages',
      { name: 'channels/1/conversations/2/messages/3', createTime: '', status: 'SENT', contentType: 'TEXT' },
      ['Message.createTime: invalid value'],
    ],
    [
      'empty optional times and URLs',
      'shipments',
      { name: 'shipments/7', status: 'DELIVERED', createTime: '', updateTime: null, labelUrl: '' },
      [],
    ],
    [
      'a URL of another scheme',
      'orders',
      { ...order, referenceUrl: 'javascript:alert(1)' },
      ['Order.referenceUrl: invalid value'],
    ],
    [
      'numbers that the graph refuses',
      'orders',
      {
        ...order,
        sellingPriceCents: 2 ** 53,
        cashOnDeliveryRequestCents: 0.5,
        customerBehavior: { ...order.customerBehavior, totalShipments: 2 ** 31 },
      },
      [
        'Order.sellingPriceCents: invalid value',
        'Order.cashOnDeliveryRequestCents: invalid value',
        'Order.customerBehavior.totalShipments: invalid value',
      ],
    ],
    [
      'a weight that has lost digits',
      'quotes',
      { name: 'quotes/7', package: { weightKg: 2 ** 53 }, offers: [] },
      ['Quote.package.weightKg: invalid value'],
    ],
    ['a wrong type', 'orders', { ...order, sellingPriceCents: '1' }, ['Order.sellingPriceCents: wrong type']],
    [
      'a list in place of an object',
      'orders',
      { ...order, recipient: [recipient] },
      ['Order.recipient: wrong type'],
    ],
    [
      'a wrong type in a list',
      'orders',
      { ...order, paymentMethods: [7] },
      ['Order.paymentMethods: wrong type'],
    ],
    ['null in a list', 'orders', { ...order, paymentMethods: [null] }, ['Order.paymentMethods: wrong type']],
    ['an unknown field', 'orders', { ...order, giftWrap: true }, ['Order.giftWrap: unknown field']],
    [
      'an unknown field whose name has digits',
      'orders',
      { ...order, '+573001234567': true, jose_1: 1 },
      ['Order.*: unknown field', 'Order.*: unknown field'],
    ],
    [
      'an unknown field with a long name',
      'orders',
      { ...order, ['a'.repeat(40)]: 1, ['b'.repeat(41)]: 1 },
      [`Order.${'a'.repeat(40)}: unknown field`, 'Order.*: unknown field'],
    ],
    [
      'an unknown field whose name overlaps with the token',
      'orders',
      { ...order, secret: 1, [`x${bearer}`]: 1 },
      ['Order.*: unknown field', 'Order.*: unknown field'],
    ],
    ['a row that is not an object', 'orders', 'orders/7', ['Order: wrong type']],
    [
      'a location in the recipient of a shipment',
      'shipments',
      { name: 'shipments/7', status: 'DELIVERED', recipient },
      ['Shipment.recipient.location: unknown field'],
    ],
    [
      'a wrong type in an offer',
      'quotes',
      { name: 'quotes/7', offers: [{ courier: 7, status: 'SUCCESS' }] },
      ['Quote.offers.courier: wrong type'],
    ],
    [
      'a channel of an unknown network',
      'channels',
      { name: 'channels/7', type: 'pigeon', active: true, pigeonPost: { phoneNumber: '1' }, colour: 'grey' },
      ['Channel.colour: unknown field'],
    ],
    [
      'template parameters of any name',
      'messages',
      {
        name: 'channels/1/conversations/2/messages/3',
        createTime: '2026-11-02T14:00:00Z',
        status: 'SENT',
        contentType: 'TEMPLATE',
        template: { name: 'hello', language: 'es', bodyParameters: { firstName: 'José' } },
      },
      [],
    ],
  ])('reports exactly the differences of a record from the schema: %s', (_what, kind, record, expected) => {
    const { drift, counted, told } = watch();
    drift.check(kind, [record], bearer);
    expect(told).toEqual([...new Set(expected)]);
    // Without a name that is REST's own.
    const asCounted = (line: string) => line.replace(/\w+: unknown field$/, '*: unknown field');
    expect(counted).toEqual(expected.map(asCounted));
  });

  test('reports a repeated difference once in ten minutes', () => {
    let time = 0;
    const { drift, counted, told } = watch({ now: () => time });
    const broken = { ...order, status: 'LOST' };
    drift.check('orders', [broken], bearer);
    drift.check('orders', [broken], bearer);
    time = 599_999;
    drift.check('orders', [broken], bearer);
    expect([counted.length, told.length]).toEqual([3, 1]);
    time = 600_000;
    drift.check('orders', [broken], bearer);
    expect([counted.length, told.length]).toEqual([4, 2]);
  });

  test('checks a limited number of records per second', () => {
    let time = 0;
    const { drift, counted, told } = watch({ now: () => time, recordsPerSecond: 4 });
    const rows = ['A', 'B', 'C', 'D'].map((name) => ({ ...order, [`field${name}`]: 1 }));
    for (let page = 0; page < 10; page += 1) drift.check('orders', rows, bearer);
    expect(told.toSorted()).toEqual([
      'Order.fieldA: unknown field',
      'Order.fieldB: unknown field',
      'Order.fieldC: unknown field',
      'Order.fieldD: unknown field',
    ]);
    expect(counted).toHaveLength(4);
    time = 1_000;
    drift.check('orders', rows, bearer);
    expect(counted).toHaveLength(5);
  });

  test('reports at most 500 fields by name', () => {
    const { drift, told } = watch({ recordsPerSecond: 10_000 });
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    for (const first of letters)
      for (const second of letters) drift.check('orders', [{ ...order, [first + second]: 1 }], bearer);
    expect(told).toHaveLength(501);
    expect(told.at(-1)).toBe('other: unknown field');
  });
});

test('all responses of the sandbox match the REST interface', async () => {
  const { drift, counted } = watch({ recordsPerSecond: Number.POSITIVE_INFINITY });
  const sandbox = await startSeededSandbox();
  const client = createRestClient({
    baseUrl: new URL(sandbox.url),
    connections: 4,
    streamConnections: 4,
    connectTimeoutMs: 2_000,
    callTimeoutMs: 10_000,
    streamTimeoutMs: 60_000,
    retries: 0,
  });
  const kinds = new Set<string>();
  // Of a page, every row.
  const everyRow = {
    check(kind: ResourceKind, rows: readonly unknown[]) {
      kinds.add(kind);
      for (const row of rows) drift.check(kind, [row], bearer);
    },
  };
  const api = createRestApi(client, parameterNames, { drift: everyRow });
  const callContext = createCallContexts().of(sandbox.tokens.first, new AbortController().signal);
  await api.createOrder(newOrder, callContext);
  await api.listOrders({ pageSize: 1_000 }, callContext);
  const shipments = await api.listShipments({ pageSize: 1_000 }, callContext);
  const quotes = shipments.rows
    .flatMap((row) => ('quote' in row && row.quote ? [row.quote] : []))
    .slice(0, 10);
  for (const quote of quotes) await api.getQuote(quote, callContext);
  await api.listOrigins({ pageSize: 1_000 }, callContext);
  await api.listLocations({ pageSize: 1_000 }, callContext);
  await api.getOrganization(callContext);
  const channels = await api.listChannels({ pageSize: 100 }, callContext);
  for (const channel of channels.rows) {
    if (!('name' in channel) || !channel.name.startsWith('channels/')) continue;
    await api.listTemplates({ channel: channel.name, pageSize: 100 }, callContext);
    const sent = await api.sendToPhone(
      channel.name,
      { recipient: { phone: '+573001234567', name: 'José' }, text: 'Hola' },
      callContext,
    );
    const conversation = sent.name.split('/')[3] ?? '';
    await api.listMessages({ channel: channel.name, conversation, pageSize: 100 }, callContext);
    break;
  }
  await client.close();
  await sandbox.close();
  expect(counted).toEqual([]);
  expect([...kinds].sort(), 'Each kind of wireSchemas needs a call above that reads a record of it.').toEqual(
    Object.keys(wireSchemas).sort(),
  );
});

import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import { createRestApi } from '../../src/rest/api.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import { ForeignRecordError, OutcomeUnknownError } from '../../src/rest/errors.ts';
import { findForeignName, isSameName } from '../../src/rest/repeated-names.ts';
import { createDriftWatch } from '../../src/rest/watch/schema-drift.ts';
import { answerJson, errorOf, parameterNames, startRestClient } from '../fixtures/rest-service.ts';
import { newOrder, newQuote, newShipment } from './bodies.ts';

type Write = (api: RestApi, callContext: CallContext) => Promise<unknown>;

const order = { ...newOrder, referenceId: '1001' };
const quote = { ...newQuote, order: 'orders/7' };
const createOrder: Write = (api, callContext) => api.createOrder(order, callContext);
const createPlainOrder: Write = (api, callContext) => api.createOrder(newOrder, callContext);
const createQuote: Write = (api, callContext) => api.createQuote(quote, callContext);
const createPlainQuote: Write = (api, callContext) => api.createQuote(newQuote, callContext);
const createShipment: Write = (api, callContext) => api.createShipment(newShipment, callContext);
const sendMessage: Write = (api, callContext) =>
  api.sendMessage('channels/1', '17', { text: 'Hola' }, callContext);
const sendToPhone: Write = (api, callContext) =>
  api.sendToPhone('1', { recipient: { phone: '+57300', name: 'José' }, text: 'Hola' }, callContext);

const message = (channel: string, conversation: string) => ({
  name: `channels/${channel}/conversations/${conversation}/messages/m1`,
});

describe('a write fails with OutcomeUnknownError if the record differs from the request in', () => {
  test.each<[string, Write, object, string]>([
    ['the order of a quote', createQuote, { name: 'quotes/1', order: 'orders/8' }, 'order'],
    ['an order where none was named', createPlainQuote, { name: 'quotes/1', order: 'orders/7' }, 'order'],
    ['the origin of a quote', createQuote, { name: 'quotes/1', origin: 'locations/9' }, 'origin'],
    [
      'the destination of a quote',
      createQuote,
      { name: 'quotes/1', destination: 'locations/1' },
      'destination',
    ],
    ['a bare order of a quote', createQuote, { name: 'quotes/1', order: '8' }, 'order'],
    ['an order of another kind', createQuote, { name: 'quotes/1', order: 'shipments/7' }, 'order'],
    ['an order as an object', createQuote, { name: 'quotes/1', order: { name: 'orders/7' } }, 'order'],
    ['the quote of a shipment', createShipment, { name: 'shipments/1', quote: 'quotes/5' }, 'quote'],
    ['the courier', createShipment, { name: 'shipments/1', courier: 'couriers/lento' }, 'courier'],
    ['the origin of a shipment', createShipment, { name: 'shipments/1', origin: 'origins/2' }, 'origin'],
    ['the reference', createOrder, { name: 'orders/1', referenceId: '1002' }, 'referenceId'],
    [
      'a reference where none was named',
      createPlainOrder,
      { name: 'orders/1', referenceId: '1001' },
      'referenceId',
    ],
    ['the channel of a message', sendMessage, message('2', '17'), 'channel'],
    ['the conversation of a message', sendMessage, message('1', '18'), 'conversation'],
    ['the channel of a message by phone', sendToPhone, message('2', '17'), 'channel'],
  ])('%s', async (_what, write, record, path) => {
    await using rest = await startRestClient(answerJson(record));
    const error = await errorOf(write(rest.api, rest.callContext()));
    const [line] = rest.service.lines();
    const cause = new ForeignRecordError(
      `${line} returned a record of another request: its "${path}" differs`,
    );
    expect(error).toEqual(
      new OutcomeUnknownError(`${line} was sent, but the response belongs to another request`, { cause }),
    );
    expect(rest.service.requests).toHaveLength(1);
  });
});

describe('a write returns the record of its response if the record has', () => {
  const ofQuote = { name: 'quotes/1', order: 'orders/7', origin: 'locations/1', destination: 'locations/2' };
  test.each<[string, Write, object]>([
    ['all names', createQuote, ofQuote],
    ['no names', createQuote, { name: 'quotes/1' }],
    ['names that are null', createQuote, { ...ofQuote, order: null, origin: null, destination: null }],
    ['empty names', createQuote, { ...ofQuote, order: '', origin: '', destination: '' }],
    ['names without the collection', createQuote, { ...ofQuote, order: '7', origin: '1', destination: 2 }],
    ['another text', createQuote, { ...ofQuote, package: { contentDescription: 'Té' } }],
    [
      'the names of a shipment',
      createShipment,
      { name: 'shipments/1', quote: '4', courier: 'rapido', origin: '1' },
    ],
    ['an empty order where none was named', createPlainQuote, { name: 'quotes/1', order: '' }],
    ['an empty reference where none was named', createPlainOrder, { name: 'orders/1', referenceId: '' }],
    ['another location', createOrder, { name: 'orders/1', recipient: { location: 'locations/9' } }],
    ['a reference without its spaces', createOrder, { name: 'orders/1', referenceId: ' 1001' }],
    ['a reference as a number', createOrder, { name: 'orders/1', referenceId: 1001 }],
    ['another first name', createOrder, { name: 'orders/1', recipient: { firstName: 'JOSÉ' } }],
    ['no recipient', createOrder, { name: 'orders/1', recipient: null }],
    ['the conversation of a message', sendMessage, message('1', '17')],
    ['any conversation of a message by phone', sendToPhone, message('1', '99')],
  ])('%s', async (_what, write, record) => {
    await using rest = await startRestClient(answerJson(record));
    expect(await write(rest.api, rest.callContext())).toEqual(record);
  });
});

test('a record of another request is not checked for drift', async () => {
  const reported: string[] = [];
  const onNewDifference = (coordinate: string) => reported.push(coordinate);
  const drift = createDriftWatch({ onDifference: () => {}, onNewDifference });
  const foreign = { name: 'orders/8', referenceId: '1002', giftOfAna: true };
  await using rest = await startRestClient(answerJson(foreign));
  const api = createRestApi(rest.client, parameterNames, { drift });
  await errorOf(api.createOrder(order, rest.callContext()));
  await errorOf(api.updateOrder('7', { order: {}, updateMask: [] }, rest.callContext()));
  await errorOf(api.getOrder('7', rest.callContext()));
  expect(reported).toEqual([]);
  expect(rest.service.lines()).toEqual(['POST /v1/orders', 'PATCH /v1/orders/7', 'GET /v1/orders/7']);
});

test.each([
  [undefined, undefined],
  [null, null],
  ['', ''],
  ['quotes/', ''],
  [{}, {}],
])('two omitted or unreadable names are not the same name: %o and %o', (one, other) => {
  expect(isSameName('quotes', one, other)).toBe(false);
});

test('the organization of a response is never taken for a record of another request', () => {
  expect(
    findForeignName('organization', {}, { name: 'organization/1', balanceCents: 1, creditLimitCents: 1 }),
  ).toBe(undefined);
});

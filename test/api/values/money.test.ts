import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  BalanceDocument,
  CurrenciesDocument,
  SellingPriceDocument,
  SellingPriceStandardDocument,
  ShipmentCostsDocument,
} from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

describe('an amount', () => {
  test.each([
    ['ca2481', 11_670_000, '$\u00a0116.700', 'COP\u00a0116,700', '116.700\u00a0COP'],
    ['ca2470', 28_500_000_000, '$\u00a0285.000.000', 'COP\u00a0285,000,000', '285.000.000\u00a0COP'],
    [
      'ca1000',
      9_007_199_254_740_991,
      '$\u00a090.071.992.547.409,91',
      'COP\u00a090,071,992,547,409.91',
      '90.071.992.547.409,91\u00a0COP',
    ],
  ])('is exact for order %s: %d cents', async (id, cents, standard, inEnglish, inGerman) => {
    const price = await waybill.ask(SellingPriceDocument, { id });
    expect(price.data).toEqual({ order: { sellingPrice: { cents, currency: 'COP', formatted: standard } } });
    const { data, calls } = await waybill.ask(SellingPriceStandardDocument, { id });
    expect(data).toEqual({ order: { sellingPrice: { formatted: standard, inEnglish, inGerman } } });
    expect(calls).toEqual([`GET /v1/orders/${id}`]);
  });

  test('can be negative and exceed 32 bits', async () => {
    const { data, calls } = await waybill.ask(BalanceDocument);
    const formatted = '-$\u00a0184.235.000';
    expect(data).toEqual({
      organization: {
        balance: { cents: -18_423_500_000, formatted, inEnglish: '-COP\u00a0184,235,000' },
      },
    });
    expect(calls).toEqual(['GET /v1/organizations/mine']);
  });

  test.each([
    [0, '$\u00a00'],
    [5, '$\u00a00,05'],
    [-5, '-$\u00a00,05'],
    [150, '$\u00a01,50'],
    [-100, '-$\u00a01'],
    [-9_007_199_254_740_991, '-$\u00a090.071.992.547.409,91'],
  ])('shows decimals only if needed: %d cents', async (cents, formatted) => {
    const restore = waybill.changeAnswer('/v1/orders/ca2481', { sellingPriceCents: cents });
    const { data, errors } = await waybill.ask(SellingPriceDocument, { id: 'ca2481' });
    restore();
    expect(errors).toBeUndefined();
    expect(data).toEqual({ order: { sellingPrice: { cents, currency: 'COP', formatted } } });
  });

  test.each([
    ['a fraction of a cent', 0.5],
    ['more than 2⁵³ - 1', 9_007_199_254_740_992],
    ['a string', '1705000'],
    ['an object', { amount: 1 }],
  ])('is null and leaves other amounts unchanged if its value is %s', async (_what, cents) => {
    const restore = waybill.changeAnswer('/v1/shipments/ca2036', {
      shipmentCostCents: cents,
      totalCostCents: cents,
    });
    const { data, errors, calls } = await waybill.ask(ShipmentCostsDocument, { id: 'ca2036' });
    restore();
    expect(data).toEqual({
      shipment: {
        id: 'shipments/ca2036',
        shipmentCost: null,
        cashOnDeliveryCost: { cents: 350_000 },
        totalCost: null,
      },
    });
    const extensions = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
    expect(errors?.toSorted((one, other) => one.message.length - other.message.length)).toMatchObject([
      { path: ['shipment', 'totalCost', 'formatted'], extensions },
      { path: ['shipment', 'shipmentCost', 'cents'], extensions },
    ]);
    expect(calls).toEqual(['GET /v1/shipments/ca2036']);
  });

  test('is null without an error if it is nullable and missing', async () => {
    const restore = waybill.changeAnswer('/v1/shipments/ca2036', { totalCostCents: undefined });
    const { data, errors } = await waybill.ask(ShipmentCostsDocument, { id: 'ca2036' });
    restore();
    expect([data.shipment?.totalCost, errors]).toEqual([null, undefined]);
  });

  test('makes the record null if it is required and missing', async () => {
    const restore = waybill.changeAnswer('/v1/orders/ca2481', { sellingPriceCents: undefined });
    const { data, errors } = await waybill.ask(SellingPriceDocument, { id: 'ca2481' });
    restore();
    expect(data).toEqual({ order: null });
    expect(errors).toMatchObject([
      { path: ['order', 'sellingPrice'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
    ]);
  });
});

describe('an infinite number of cents', () => {
  const update = 'updateOrder(input: { id: "a", sellingPriceCents: $c }) { __typename }';
  test.each([
    ['a literal', `mutation { ${update.replace('$c', '1e400')} }`, '{}'],
    ['a variable', `mutation ($c: Cents!) { ${update} }`, '{"c":-1e400}'],
    [
      'a nested field of a variable',
      'mutation ($input: UpdateOrderInput!) { updateOrder(input: $input) { __typename } }',
      '{"input":{"id":"a","sellingPriceCents":1e400}}',
    ],
  ])('is rejected as too large in %s', async (_what, query, variables) => {
    waybill.sandbox.requests.clear();
    const authorization = `Bearer ${waybill.sandbox.tokens.first}`;
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      // JSON.stringify would write null.
      body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
    });
    const expected = 'Expected a whole number of cents between -(2^53 - 1) and 2^53 - 1';
    const { errors } = await response.json();
    expect(errors).toHaveLength(1);
    expect(errors[0].message).toContain(`${expected}, but got a number that is too large.`);
    expect(errors[0].extensions).toMatchObject({ retryable: false });
    expect(waybill.sandbox.requests.lines()).toEqual([]);
  });
});

describe('a locale', () => {
  test.each([
    ['several words', 'not a locale'],
    ['an empty string', ''],
    ['an invalid tag', 'es_CO!'],
    ['a NUL', '\u0000'],
    ['10,000 letters', 'x'.repeat(10_000)],
  ])('is rejected if it is %s', async (_what, locale) => {
    const { data, errors } = await waybill.ask(SellingPriceDocument, { id: 'ca2481', locale });
    expect(data).toEqual({ order: null });
    expect(errors).toMatchObject([
      { path: ['order', 'sellingPrice', 'formatted'], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(errors?.[0]?.message.length).toBeLessThan(200);
  });

  test('is rejected if it has more than 100 characters', async () => {
    const locale = `es-CO-x${'-abcdefgh'.repeat(11)}`;
    const { errors } = await waybill.ask(SellingPriceDocument, { id: 'ca2481', locale });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  // Creating a formatter takes about 30 microseconds, and a response has thousands of amounts.
  test.each(['es-CO-u-nu-latn-cf-account-x-aaaaaaaa-bbbbbbbb', 'no_tag!'])(
    'is checked once for all amounts: %s',
    async (locale) => {
      const formats = vi.spyOn(Intl, 'NumberFormat');
      await waybill.ask(
        `{ orders(first: 20) { nodes { sellingPrice { formatted(locale: ${JSON.stringify(locale)}) } } } }`,
      );
      expect(formats).toHaveBeenCalledTimes(1);
    },
  );

  test('falls back to the default locale if it is null', async () => {
    const { data } = await waybill.ask(SellingPriceDocument, { id: 'ca2481', locale: null });
    expect(data.order?.sellingPrice.formatted).toBe('$\u00a0116.700');
  });
});

test('CURRENCY sets the currency of all amounts except shipment costs', async () => {
  await using dollars = await startWaybill({ CURRENCY: 'USD' });
  const { data, calls } = await dollars.ask(CurrenciesDocument, { id: 'ca2481' });
  expect(data).toEqual({
    order: {
      sellingPrice: { currency: 'USD', formatted: 'US$\u00a0116.700' },
      cashOnDelivery: { currency: 'USD' },
      shipment: {
        totalCost: { currency: 'COP', formatted: '$\u00a020.550' },
        quote: {
          cashOnDelivery: { currency: 'USD' },
          package: { declaredValue: { currency: 'USD' } },
          cheapestOffer: { shipmentCost: { currency: 'COP' } },
        },
      },
    },
  });
  expect(calls).toEqual(['GET /v1/orders/ca2481', 'GET /v1/shipments/ca2036', 'GET /v1/quotes/ca2139']);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cheapest, fastest } from '../../../src/rest/offers.ts';
import type { OfferJson } from '../../../src/rest/wire-schema.ts';
import {
  QuoteBestOffersDocument,
  QuoteOfferStatusesDocument,
  QuoteOrderDocument,
  QuotePayloadDocument,
  QuotePlacesDocument,
} from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

const money = (cents: number) => ({ cents, currency: 'COP' });

/** As the graph gives it out; `costs` are those of the shipment and of its return. */
const offer = (code: string, status: string, costs: [number, number], days: number) => ({
  courier: { id: `couriers/${code}`, code },
  status,
  available: status === 'SUCCESS',
  shipmentCost: money(costs[0]),
  returnShipmentCost: money(costs[1]),
  estimatedDeliveryOperatingDays: days,
});

describe('a quote', () => {
  test.each(['quotes/ca2139', 'ca2139'])('returns all fields with one call: %s', async (id) => {
    const { data, errors, calls } = await waybill.ask(QuotePayloadDocument, { id });
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      quote: {
        __typename: 'Quote',
        id: 'quotes/ca2139',
        createTime: '2026-11-01T18:48:43.699Z',
        updateTime: '2026-11-01T18:48:43.699Z',
        order: { id: 'orders/ca2481' },
        origin: { id: 'locations/bogota-dc-puente-aranda' },
        destination: { id: 'locations/antioquia-medellin-laureles' },
        package: {
          declaredValue: money(11_670_000),
          dimensions: { lengthCm: 30, widthCm: 22, heightCm: 15 },
          weightKg: 1.35,
          contentDescription: '3 × Café de Huila, Pitalito, en grano 340 g',
        },
        cashOnDelivery: money(11_670_000),
        offers: [
          offer('rutandina', 'SUCCESS', [1_405_000, 1_030_000], 2),
          offer('condor-veloz', 'SUCCESS', [1_705_000, 1_565_000], 1),
          offer('chasqui-carga', 'SUCCESS', [1_860_000, 1_600_000], 2),
          offer('tierra-firme', 'CASH_ON_DELIVERY_NOT_AVAILABLE', [0, 0], 0),
          offer('tres-cordilleras', 'SUCCESS', [1_155_000, 725_000], 2),
        ],
        cheapestOffer: offer('tres-cordilleras', 'SUCCESS', [1_155_000, 725_000], 2),
        fastestOffer: offer('condor-veloz', 'SUCCESS', [1_705_000, 1_565_000], 1),
      },
    });
    expect(calls).toEqual(['GET /v1/quotes/ca2139']);
  });

  test('reads the fields of its order with one more call', async () => {
    const { data, calls } = await waybill.ask(QuoteOrderDocument, { id: 'ca2139' });
    expect(data).toEqual({ quote: { order: { status: 'IN_PROGRESS' } } });
    expect(calls).toEqual(['GET /v1/quotes/ca2139', 'GET /v1/orders/ca2481']);
  });

  test('reads its origin and destination with one filtered list call each', async () => {
    const { data, calls } = await waybill.ask(QuotePlacesDocument, { id: 'ca2139' });
    expect(data).toEqual({
      quote: {
        origin: { locality: 'Bogotá D.C. (Puente Aranda)' },
        destination: { locality: 'Medellín (Laureles)' },
      },
    });
    expect(calls[0]).toBe('GET /v1/quotes/ca2139');
    expect(calls.slice(1).sort()).toEqual([
      'GET /v1/locations?pageSize=1000&query=locations/antioquia-medellin-laureles',
      'GET /v1/locations?pageSize=1000&query=locations/bogota-dc-puente-aranda',
    ]);
  });

  test.each(['nosuch', 'st0200'])(
    'is null without an error if the merchant has no quote with the id %s',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(QuoteOrderDocument, { id });
      expect({ data, errors }).toEqual({ data: { quote: null }, errors: undefined });
      expect(calls).toEqual([`GET /v1/quotes/${id}`]);
    },
  );

  test('fails without a call if the id belongs to an order', async () => {
    const { data, errors, calls } = await waybill.ask(QuoteOrderDocument, { id: 'orders/ca2481' });
    expect(data).toEqual({ quote: null });
    expect(errors).toMatchObject([{ path: ['quote'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  });
});

describe('the selection of the cheapest and the fastest offer', () => {
  const of = (
    courier: string,
    cost: number | undefined,
    days: number | undefined,
    status = 'SUCCESS',
  ): OfferJson => ({
    courier: `couriers/${courier}`,
    status,
    ...(cost !== undefined && { shipmentCostCents: cost }),
    ...(days !== undefined && { estimatedDeliveryOperatingDays: days }),
  });

  test.each<[string, OfferJson[], string | undefined, string | undefined]>([
    ['two different offers', [of('a', 300, 1), of('b', 100, 3), of('c', 200, 2)], 'couriers/b', 'couriers/a'],
    [
      'an offer that is both cheapest and fastest',
      [of('a', 100, 3), of('b', 100, 2), of('c', 90, 2)],
      'couriers/c',
      'couriers/c',
    ],
    [
      'the faster of two offers with equal costs',
      [of('a', 100, 3), of('b', 100, 2)],
      'couriers/b',
      'couriers/b',
    ],
    [
      'the cheaper of two equally fast offers',
      [of('a', 200, 1), of('b', 100, 1)],
      'couriers/b',
      'couriers/b',
    ],
    [
      'the offer with the first courier id if all offers are equal',
      [of('b', 100, 1), of('a', 100, 1), of('c', 100, 1)],
      'couriers/a',
      'couriers/a',
    ],
    ['only available offers', [of('a', 1, 1, 'NO_COVERAGE'), of('b', 9, 9)], 'couriers/b', 'couriers/b'],
    [
      'an offer with known values rather than an offer with unknown values',
      [of('a', undefined, undefined), of('b', 9, 9)],
      'couriers/b',
      'couriers/b',
    ],
    [
      'offers that have only a cost or only a time',
      [of('a', 5, undefined), of('b', undefined, 5)],
      'couriers/a',
      'couriers/b',
    ],
    [
      'the offer with the first courier id if all values are unknown',
      [of('b', undefined, undefined), of('a', undefined, undefined)],
      'couriers/a',
      'couriers/a',
    ],
    [
      'an offer with valid numbers rather than offers with invalid values',
      // As REST must not send it: a text, nothing, and a number past all bounds.
      JSON.parse(`[
        {"courier": "couriers/a", "status": "SUCCESS", "shipmentCostCents": "1", "estimatedDeliveryOperatingDays": "1"},
        {"courier": "couriers/b", "status": "SUCCESS", "shipmentCostCents": null, "estimatedDeliveryOperatingDays": null},
        {"courier": "couriers/c", "status": "SUCCESS", "shipmentCostCents": -1e999, "estimatedDeliveryOperatingDays": []},
        {"courier": "couriers/d", "status": "SUCCESS", "shipmentCostCents": 9, "estimatedDeliveryOperatingDays": 9}
      ]`),
      'couriers/d',
      'couriers/d',
    ],
    ['an offer that is free of charge', [of('a', 1, 1), of('b', 0, 1)], 'couriers/b', 'couriers/b'],
    [
      'no offer if all offers are unavailable',
      [of('a', 1, 1, 'OVERWEIGHT'), of('b', 1, 1, 'success')],
      undefined,
      undefined,
    ],
    ['no offer from an empty list', [], undefined, undefined],
  ])('selects %s', (_what, offers, cheap, fast) => {
    const given = structuredClone(offers);
    expect([cheapest(offers)?.courier, fastest(offers)?.courier]).toEqual([cheap, fast]);
    expect(offers, 'the offers stay in their order').toEqual(given);
  });
});

describe('a quote with invalid offers', () => {
  test.each([
    ['missing', undefined],
    ['a string', 'none'],
    ['a list with null', [null]],
  ])('has errors at cheapestOffer and fastestOffer if `offers` is %s', async (_what, offers) => {
    const remove = waybill.sandbox.faults.add({
      kind: 'change',
      path: '/v1/quotes/ca2139',
      change: (quote) => ({ ...(quote as object), offers }),
    });
    const { data, errors, calls } = await waybill.ask(QuoteBestOffersDocument, { id: 'ca2139' });
    remove();
    expect(data).toEqual({ quote: { id: 'quotes/ca2139', cheapestOffer: null, fastestOffer: null } });
    const extensions = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
    expect(errors).toMatchObject([
      { path: ['quote', 'cheapestOffer'], extensions },
      { path: ['quote', 'fastestOffer'], extensions },
    ]);
    expect(calls).toEqual(['GET /v1/quotes/ca2139']);
  });

  test('returns an unknown offer status unchanged', async () => {
    const remove = waybill.sandbox.faults.add({
      kind: 'change',
      path: '/v1/quotes/ca2139',
      change: (quote) => ({ ...(quote as object), offers: [{ courier: 'couriers/x', status: 'MAÑANA' }] }),
    });
    const { data, errors } = await waybill.ask(QuoteOfferStatusesDocument, { id: 'ca2139' });
    remove();
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      quote: { id: 'quotes/ca2139', offers: [{ status: 'MAÑANA', available: false }] },
    });
  });
});

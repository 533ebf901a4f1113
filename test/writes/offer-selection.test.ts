import { describe, expect, test } from 'vitest';
import { readOffers } from '../../src/rest/offers.ts';
import type { OfferJson } from '../../src/rest/wire-schema.ts';
import { explainNoOffer, type OfferPreference, selectOffer } from '../../src/writes/offer-selection.ts';

interface Unusual {
  cost?: unknown;
  days?: unknown;
  status?: string;
}

/** An offer as REST sends it, with what it must not send too. */
function offer(courier: string, { cost, days, status = 'SUCCESS' }: Unusual): OfferJson {
  const sent = { shipmentCostCents: cost, estimatedDeliveryOperatingDays: days };
  return { courier: `couriers/${courier}`, status, ...JSON.parse(JSON.stringify(sent)) };
}

const preference = (
  offer: OfferPreference['offer'],
  maxShipmentCostCents: number | null = null,
): OfferPreference => ({
  offer,
  maxShipmentCostCents,
});
const cheapest = { prefer: 'CHEAPEST' } as const;
const fastest = { prefer: 'FASTEST' } as const;
const courier = (code: string) => ({ courier: `couriers/${code}` });

const usual = [
  offer('a', { cost: 300, days: 1 }),
  offer('b', { cost: 100, days: 3 }),
  offer('c', { cost: 200, days: 2 }),
  offer('d', { cost: 0, days: 0, status: 'OVERWEIGHT' }),
];
const twins = [
  offer('c', { cost: 100, days: 2 }),
  offer('b', { cost: 100, days: 2 }),
  offer('a', { cost: 100, days: 3 }),
  offer('d', { cost: 200, days: 2 }),
];
const unknown = [
  offer('a', { days: 1 }),
  offer('b', { cost: '1', days: 2 }),
  offer('c', { cost: null, days: 3 }),
  offer('d', { cost: 900, days: 4 }),
];

describe('the selected offer', () => {
  test.each<[string, OfferJson[], OfferPreference, string | undefined]>([
    ['is the cheapest', usual, preference(cheapest), 'b'],
    ['is the fastest', usual, preference(fastest), 'a'],
    ["is the courier's", usual, preference(courier('c')), 'c'],
    ['is the cheapest without a preference', usual, preference({}), 'b'],
    ['is missing for a courier with an unavailable offer', usual, preference(courier('d')), undefined],
    ['is missing for a courier without an offer', usual, preference(courier('e')), undefined],
    [
      'is the cheaper of two from one courier',
      [...usual, offer('c', { cost: 150, days: 9 })],
      preference(courier('c')),
      'c',
    ],

    ['is the faster of equal costs, then the first by courier', twins, preference(cheapest), 'b'],
    ['is the cheaper of equal times, then the first by courier', twins, preference(fastest), 'b'],

    ['may cost exactly the limit', usual, preference(cheapest, 100), 'b'],
    ['may not exceed the limit by a cent', usual, preference(cheapest, 99), undefined],
    ['is the fastest within the limit', usual, preference(fastest, 299), 'c'],
    ["is the courier's within the limit", usual, preference(courier('a'), 300), 'a'],
    ["is not the courier's beyond the limit", usual, preference(courier('a'), 299), undefined],
    ['may have a cost of 0', [offer('a', { cost: 0, days: 1 })], preference(cheapest, 0), 'a'],

    ['has a known cost before an unknown one', unknown, preference(cheapest), 'd'],
    ['may have an unknown cost if it is the fastest', unknown, preference(fastest), 'a'],
    ['has a known cost within a limit', unknown, preference(fastest, 900), 'd'],
    ['has no unknown cost with any limit', unknown, preference(courier('a'), 9e15), undefined],
    ['has no text as its cost', unknown, preference(courier('b'), 900), undefined],
    ['may have an unknown cost without a limit', unknown, preference(courier('c')), 'c'],

    ['is missing in an empty list', [], preference(cheapest), undefined],
    [
      'is missing without an available offer',
      [offer('a', { cost: 1, days: 1, status: 'success' })],
      preference(fastest),
      undefined,
    ],
  ])('%s', (_what, offers, wished, code) => {
    const given = structuredClone(offers);
    expect(selectOffer(offers, wished)?.courier).toBe(code && `couriers/${code}`);
    expect(offers, 'the offers stay in their order').toEqual(given);
  });

  test('of one courier is the cheaper one', () => {
    const two = [offer('a', { cost: 200, days: 1 }), offer('a', { cost: 100, days: 2 })];
    expect(selectOffer(two, preference(courier('a')))).toBe(two[1]);
  });
});

describe('the reason for no offer', () => {
  const available =
    'Available: couriers/a for 300 cents, couriers/b for 100 cents, couriers/c for 200 cents.';

  test.each<[string, OfferJson[], OfferPreference, string]>([
    [
      'all cost too much',
      usual,
      preference(cheapest, 99),
      `no available offer costs at most 99 cents. ${available} Raise the limit, with a new idempotencyKey.`,
    ],
    [
      "the courier's costs too much",
      usual,
      preference(courier('a'), 299),
      `no available offer of couriers/a costs at most 299 cents. ${available} Raise the limit, with a new idempotencyKey.`,
    ],
    [
      "the courier's cost is not known",
      [offer('a', { days: 1 })],
      preference(courier('a'), 299),
      'no available offer of couriers/a costs at most 299 cents. Available: couriers/a for an unknown cost. ' +
        'Raise the limit, with a new idempotencyKey.',
    ],
    [
      'the courier has rejected',
      usual,
      preference(courier('d'), 299),
      `couriers/d has no available offer. ${available} Choose one of these, with a new idempotencyKey.`,
    ],
    [
      'the courier has not responded',
      usual,
      preference(courier('e')),
      `couriers/e has no available offer. ${available} Choose one of these, with a new idempotencyKey.`,
    ],
    [
      'all couriers have rejected',
      [offer('a', { status: 'OVERWEIGHT' }), offer('b', { status: 'NO_COVERAGE' })],
      preference(courier('a'), 1),
      'no courier ships this package on this route (couriers/a OVERWEIGHT, couriers/b NO_COVERAGE). Change the package, ' +
        'the order or the origin, and use a new idempotencyKey.',
    ],
    [
      'no courier has responded',
      [],
      preference(cheapest),
      'no courier ships this package on this route (none has responded). Change the package, the order or the origin, ' +
        'and use a new idempotencyKey.',
    ],
  ])('says that %s', (_what, offers, wished, why) => {
    expect(selectOffer(offers, wished)).toBeNull();
    expect(explainNoOffer(offers, wished).message).toBe(`Nothing was shipped: ${why}`);
  });
});

test.each([
  ['nothing', undefined],
  ['a text', 'none'],
  ['a list with a null', [null]],
])('%s is not a list of offers', (_what, offers) => {
  const quote = JSON.parse(JSON.stringify({ name: 'quotes/1', offers }));
  expect(() => readOffers(quote)).toThrow('REST sent quotes/1 without a list of offers');
});

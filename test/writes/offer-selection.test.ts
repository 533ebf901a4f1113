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
    ['is the offer of the wanted courier', usual, preference(courier('c')), 'c'],
    ['is the cheapest without a preference', usual, preference({}), 'b'],
    [
      'is missing if the offer of the wanted courier is not available',
      usual,
      preference(courier('d')),
      undefined,
    ],
    ['is missing if the wanted courier has no offer', usual, preference(courier('e')), undefined],
    [
      'is from the wanted courier if that courier has two offers',
      [...usual, offer('c', { cost: 150, days: 9 })],
      preference(courier('c')),
      'c',
    ],

    [
      'is the first by cost, then days, then courier if the cheapest is wanted',
      twins,
      preference(cheapest),
      'b',
    ],
    [
      'is the first by days, then cost, then courier if the fastest is wanted',
      twins,
      preference(fastest),
      'b',
    ],

    ['can cost exactly the limit', usual, preference(cheapest, 100), 'b'],
    ['is missing if the cheapest exceeds the limit by one cent', usual, preference(cheapest, 99), undefined],
    ['is the fastest within the limit', usual, preference(fastest, 299), 'c'],
    ['is the offer of the wanted courier within the limit', usual, preference(courier('a'), 300), 'a'],
    [
      'is missing if the offer of the wanted courier exceeds the limit',
      usual,
      preference(courier('a'), 299),
      undefined,
    ],
    ['can have a cost of 0', [offer('a', { cost: 0, days: 1 })], preference(cheapest, 0), 'a'],

    ['has a known cost if the cheapest offer is wanted', unknown, preference(cheapest), 'd'],
    ['can have an unknown cost if the fastest offer is wanted', unknown, preference(fastest), 'a'],
    ['has a known cost if there is a limit', unknown, preference(fastest, 900), 'd'],
    [
      'is missing if its cost is unknown and there is a limit',
      unknown,
      preference(courier('a'), 9e15),
      undefined,
    ],
    [
      'is missing if its cost is a string and there is a limit',
      unknown,
      preference(courier('b'), 900),
      undefined,
    ],
    ['can have an unknown cost if there is no limit', unknown, preference(courier('c')), 'c'],

    ['is missing if there are no offers', [], preference(cheapest), undefined],
    [
      'is missing if no offer is available',
      [offer('a', { cost: 1, days: 1, status: 'success' })],
      preference(fastest),
      undefined,
    ],
  ])('%s', (_what, offers, wished, code) => {
    const given = structuredClone(offers);
    expect(selectOffer(offers, wished)?.courier).toBe(code && `couriers/${code}`);
    expect(offers, 'the offers stay in their order').toEqual(given);
  });

  test('is the cheaper of two offers from the wanted courier', () => {
    const two = [offer('a', { cost: 200, days: 1 }), offer('a', { cost: 100, days: 2 })];
    expect(selectOffer(two, preference(courier('a')))).toBe(two[1]);
  });
});

describe('the message about a missing offer', () => {
  const available =
    'Available: couriers/a for 300 cents, couriers/b for 100 cents, couriers/c for 200 cents.';

  test.each<[string, OfferJson[], OfferPreference, string]>([
    [
      'all offers cost too much',
      usual,
      preference(cheapest, 99),
      `every available offer costs more than 99 cents. ${available} Raise maxShipmentCostCents, and use a new idempotencyKey.`,
    ],
    [
      'the offer of the wanted courier costs too much',
      usual,
      preference(courier('a'), 299),
      `every available offer of couriers/a costs more than 299 cents. ${available} Raise maxShipmentCostCents, and use a new idempotencyKey.`,
    ],
    [
      'the cost of the wanted courier is unknown',
      [offer('a', { days: 1 })],
      preference(courier('a'), 299),
      'every available offer of couriers/a costs more than 299 cents or has an unknown cost. Available: couriers/a for an unknown cost. ' +
        'Raise maxShipmentCostCents, and use a new idempotencyKey.',
    ],
    [
      'the wanted courier has rejected the package',
      usual,
      preference(courier('d'), 299),
      `couriers/d has no available offer. ${available} Choose one of these couriers, and use a new idempotencyKey.`,
    ],
    [
      'the wanted courier has made no offer',
      usual,
      preference(courier('e')),
      `couriers/e has no available offer. ${available} Choose one of these couriers, and use a new idempotencyKey.`,
    ],
    [
      'all couriers have rejected the package',
      [offer('a', { status: 'OVERWEIGHT' }), offer('b', { status: 'NO_COVERAGE' })],
      preference(courier('a'), 1),
      'no courier ships this package on this route (couriers/a OVERWEIGHT, couriers/b NO_COVERAGE). Change the package, ' +
        'the order or the origin, and use a new idempotencyKey.',
    ],
    [
      'the quote has no offers',
      [],
      preference(cheapest),
      'the quote contains no offer. Change the package, the order or the origin, and use a new idempotencyKey.',
    ],
  ])('explains what to change if %s', (_what, offers, wished, why) => {
    expect(selectOffer(offers, wished)).toBeNull();
    expect(explainNoOffer(offers, wished).message).toBe(`Nothing was shipped: ${why}`);
  });
});

test.each([
  ['missing offers', undefined],
  ['a string', 'none'],
  ['a list with null', [null]],
])('readOffers rejects %s', (_what, offers) => {
  const quote = JSON.parse(JSON.stringify({ name: 'quotes/1', offers }));
  expect(() => readOffers(quote)).toThrow('The REST service sent quotes/1 without a list of offers');
});

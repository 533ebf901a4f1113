import type { OfferJson } from '../rest/types.ts';

/** Whether a shipment can be created from an offer: SUCCESS is the one status that the interface names ("Quote"). */
export function isAvailable(offer: OfferJson): boolean {
  return offer.status === 'SUCCESS';
}

/** The available offer that costs least; of equal ones the faster, then by courier. Null where none is available. */
export function cheapest(offers: readonly OfferJson[]): OfferJson | null {
  return best(offers, (a, b) => byCost(a, b) || byDays(a, b) || byCourier(a, b));
}

/** The available offer that arrives first; of equal ones the cheaper, then by courier. Null where none is available. */
export function fastest(offers: readonly OfferJson[]): OfferJson | null {
  return best(offers, (a, b) => byDays(a, b) || byCost(a, b) || byCourier(a, b));
}

function best(
  offers: readonly OfferJson[],
  compare: (a: OfferJson, b: OfferJson) => number,
): OfferJson | null {
  return offers.filter(isAvailable).sort(compare).at(0) ?? null;
}

const byCost = (a: OfferJson, b: OfferJson) => ascending(a.shipmentCostCents, b.shipmentCostCents);
const byDays = (a: OfferJson, b: OfferJson) =>
  ascending(a.estimatedDeliveryOperatingDays, b.estimatedDeliveryOperatingDays);
const byCourier = (a: OfferJson, b: OfferJson) =>
  a.courier < b.courier ? -1 : Number(a.courier > b.courier);

/** What is not known comes last, and so does what REST sent in place of a number. */
function ascending(a: unknown, b: unknown): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  return a - b;
}

function isKnown(value: unknown): value is number {
  return Number.isFinite(value);
}

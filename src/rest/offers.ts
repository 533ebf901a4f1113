import { InvalidResponseError } from './errors.ts';
import type { OfferJson, QuoteJson } from './wire-schema.ts';

/** The offers of a quote ("Quote"). @throws InvalidResponseError if REST sent no list of objects */
export function readOffers({ name, offers }: QuoteJson): OfferJson[] {
  if (Array.isArray(offers) && offers.every((offer) => typeof offer === 'object' && offer !== null))
    return offers;
  throw new InvalidResponseError(`The REST service sent ${name} without a list of offers`);
}

/** Whether a shipment can be created from the offer. `SUCCESS` is the only status that "Quote" documents. */
export function isAvailable(offer: OfferJson): boolean {
  return offer.status === 'SUCCESS';
}

/** The available offer of the lowest cost, then the fewest days, then by courier. Null if none is available. */
export function cheapest(offers: readonly OfferJson[]): OfferJson | null {
  return best(offers, (a, b) => byCost(a, b) || byDays(a, b) || byCourier(a, b));
}

/** The available offer of the fewest days, then the lowest cost, then by courier. Null if none is available. */
export function fastest(offers: readonly OfferJson[]): OfferJson | null {
  return best(offers, (a, b) => byDays(a, b) || byCost(a, b) || byCourier(a, b));
}

function best(offers: readonly OfferJson[], compare: typeof byCost): OfferJson | null {
  return offers.filter(isAvailable).sort(compare).at(0) ?? null;
}

const byCost = (a: OfferJson, b: OfferJson) => ascending(a.shipmentCostCents, b.shipmentCostCents);
const byDays = (a: OfferJson, b: OfferJson) =>
  ascending(a.estimatedDeliveryOperatingDays, b.estimatedDeliveryOperatingDays);
const byCourier = (a: OfferJson, b: OfferJson) =>
  a.courier < b.courier ? -1 : Number(a.courier > b.courier);

/** Compares two numbers. A value that is not a number comes last. */
function ascending(a: unknown, b: unknown): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  return a - b;
}

/** Whether REST sent a number. */
export function isKnown(value: unknown): value is number {
  return Number.isFinite(value);
}

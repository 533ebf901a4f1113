import { InvalidResponseError } from '../rest/errors.ts';
import type { OfferJson, QuoteJson } from '../rest/wire-schema.ts';

/** Which offer of a quote the client wants. */
export interface OfferPreference {
  /** Either the courier, or the property to prefer. By default the cheapest offer. */
  offer: { prefer?: 'CHEAPEST' | 'FASTEST'; courier?: string };
  /** Excludes offers of a higher or unknown cost; null excludes none. */
  maxShipmentCostCents: number | null;
}

/** Returns the offers of a quote. @throws InvalidResponseError if REST sent no list of objects ("Quote"). */
export function readOffers({ name, offers }: QuoteJson): OfferJson[] {
  if (Array.isArray(offers) && offers.every((offer) => typeof offer === 'object' && offer !== null))
    return offers;
  throw new InvalidResponseError(`${name} came without a list of offers`);
}

/** Returns the preferred available offer; null if no available offer matches the preference. */
export function selectOffer(
  offers: readonly OfferJson[],
  { offer: { prefer, courier }, maxShipmentCostCents: maxCents }: OfferPreference,
): OfferJson | null {
  const matching = offers.filter(
    (offer) =>
      (courier === undefined || offer.courier === courier) &&
      (maxCents === null || (isKnown(offer.shipmentCostCents) && offer.shipmentCostCents <= maxCents)),
  );
  return prefer === 'FASTEST' ? fastest(matching) : cheapest(matching);
}

/** Returns a message that says why no offer matches, which offers are available, and what to change. */
export function noOfferReason(
  offers: readonly Pick<OfferJson, 'courier' | 'status' | 'shipmentCostCents'>[],
  { offer: { courier }, maxShipmentCostCents: maxCents }: OfferPreference,
): string {
  const available = offers.filter(isAvailable);
  if (available.length === 0) {
    const statuses = offers.map(({ courier, status }) => `${courier} ${status}`).join(', ');
    return (
      `Nothing was shipped: no courier takes this package from there to there (${statuses || 'none has answered'}). ` +
      'Change the package or the order, or ship it from another origin, with a new idempotencyKey.'
    );
  }
  const alternatives = `Available: ${available.map(costText).join(', ')}.`;
  if (courier !== undefined && !available.some((offer) => offer.courier === courier)) {
    return `Nothing was shipped: ${courier} has no available offer. ${alternatives} Choose one of these, with a new idempotencyKey.`;
  }
  const subject = courier === undefined ? 'no available offer' : `no available offer of ${courier}`;
  return `Nothing was shipped: ${subject} costs at most ${maxCents} cents. ${alternatives} Raise the limit, with a new idempotencyKey.`;
}

function costText({ courier, shipmentCostCents }: OfferJson): string {
  return `${courier} for ${isKnown(shipmentCostCents) ? `${shipmentCostCents} cents` : 'an unknown cost'}`;
}

/** Returns whether a shipment can be created from the offer. `SUCCESS` is the only status that "Quote" documents. */
export function isAvailable(offer: OfferJson): boolean {
  return offer.status === 'SUCCESS';
}

/**
 * Returns the available offer of the lowest cost, then the fewest days, then by courier; null if none is available.
 */
export function cheapest(offers: readonly OfferJson[]): OfferJson | null {
  return best(offers, (a, b) => byCost(a, b) || byDays(a, b) || byCourier(a, b));
}

/**
 * Returns the available offer of the fewest days, then the lowest cost, then by courier; null if none is available.
 */
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

/** Compares two numbers. A value that is not a number comes last. */
function ascending(a: unknown, b: unknown): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  return a - b;
}

function isKnown(value: unknown): value is number {
  return Number.isFinite(value);
}

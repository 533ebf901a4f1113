import { InvalidResponseError } from '../rest/errors.ts';
import type { OfferJson, QuoteJson } from '../rest/wire-schema.ts';

/** Which of the available offers to take. */
export interface OfferPreference {
  /** One of the two: the courier who is to carry it, or what matters most. */
  offer: { prefer?: 'CHEAPEST' | 'FASTEST'; courier?: string };
  /** Leaves out what costs more, and what is not known to cost less; null leaves out nothing. */
  maxShipmentCostCents: number | null;
}

/** The offers to choose from. @throws InvalidResponseError where REST sent something else. */
export function offersOf({ name, offers }: QuoteJson): OfferJson[] {
  if (Array.isArray(offers) && offers.every((offer) => typeof offer === 'object' && offer !== null))
    return offers;
  throw new InvalidResponseError(`${name} came without a list of offers`);
}

/** The offer to take, or null where none is as wished. */
export function selectOffer(
  offers: readonly OfferJson[],
  { offer: { prefer, courier }, maxShipmentCostCents: most }: OfferPreference,
): OfferJson | null {
  const fitting = offers.filter(
    (offer) =>
      (courier === undefined || offer.courier === courier) &&
      (most === null || (isKnown(offer.shipmentCostCents) && offer.shipmentCostCents <= most)),
  );
  return prefer === 'FASTEST' ? fastest(fitting) : cheapest(fitting);
}

/** Why no offer was chosen, what there is instead, and what to do. */
export function noOfferReason(
  offers: readonly OfferJson[],
  { offer: { courier }, maxShipmentCostCents: most }: OfferPreference,
): string {
  const available = offers.filter(isAvailable);
  if (available.length === 0) {
    const answers = offers.map(({ courier, status }) => `${courier} ${status}`).join(', ');
    return (
      `Nothing was shipped: no courier takes this package from there to there (${answers || 'none has answered'}). ` +
      'Change the package or the order, or ship it from another origin, with a new idempotencyKey.'
    );
  }
  const instead = `Available: ${available.map(costOf).join(', ')}.`;
  if (courier !== undefined && !available.some((offer) => offer.courier === courier)) {
    return `Nothing was shipped: ${courier} has no available offer. ${instead} Choose one of these, with a new idempotencyKey.`;
  }
  const whose = courier === undefined ? 'no available offer' : `no available offer of ${courier}`;
  return `Nothing was shipped: ${whose} costs at most ${most} cents. ${instead} Raise the limit, with a new idempotencyKey.`;
}

function costOf({ courier, shipmentCostCents }: OfferJson): string {
  return `${courier} for ${isKnown(shipmentCostCents) ? `${shipmentCostCents} cents` : 'an unknown cost'}`;
}

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

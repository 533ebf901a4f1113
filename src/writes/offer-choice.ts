import { InvalidResponseError } from '../rest/errors.ts';
import type { OfferJson, QuoteJson } from '../rest/types.ts';

/** Which of the available offers to take; `maxShipmentCostCents` leaves out what costs more, or is not known to cost less. */
export interface OfferWish {
  offer: { prefer: 'CHEAPEST' | 'FASTEST' } | { courier: string };
  maxShipmentCostCents?: number;
}

/** The offers to choose from. @throws InvalidResponseError where REST sent something else. */
export function offersOf({ name, offers }: QuoteJson): OfferJson[] {
  if (Array.isArray(offers) && offers.every((offer) => typeof offer === 'object' && offer !== null))
    return offers;
  throw new InvalidResponseError(`${name} came without a list of offers`);
}

/** The offer to take, or null where none is as wished. */
export function chosen(
  offers: readonly OfferJson[],
  { offer: wish, maxShipmentCostCents }: OfferWish,
): OfferJson | null {
  const most = maxShipmentCostCents ?? Number.POSITIVE_INFINITY;
  const affordable =
    maxShipmentCostCents === undefined
      ? offers
      : offers.filter(({ shipmentCostCents: cost }) => isKnown(cost) && cost <= most);
  if ('courier' in wish) return cheapest(affordable.filter(({ courier }) => courier === wish.courier));
  return wish.prefer === 'FASTEST' ? fastest(affordable) : cheapest(affordable);
}

/** Why no offer was chosen, and what there is instead. */
export function whyNone(
  offers: readonly OfferJson[],
  { offer: wish, maxShipmentCostCents }: OfferWish,
): string {
  const told = (offer: OfferJson) =>
    `${offer.courier} for ${offer.shipmentCostCents ?? 'an unknown number of'} cents`;
  const available = offers.filter(isAvailable);
  if (available.length === 0) {
    const reasons = offers.map(({ courier, status }) => `${courier} ${status}`).join(', ');
    return `No courier takes this package. ${reasons === '' ? 'None has answered' : `They answered: ${reasons}`}.`;
  }
  const others = `Available: ${available.map(told).join(', ')}.`;
  if ('courier' in wish && !available.some(({ courier }) => courier === wish.courier)) {
    return `${wish.courier} has no available offer for this package. ${others}`;
  }
  return `No available offer${'courier' in wish ? ` of ${wish.courier}` : ''} costs at most ${maxShipmentCostCents} cents. ${others}`;
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

import { cheapest, fastest, isAvailable, isKnown } from '../rest/offers.ts';
import type { OfferJson } from '../rest/wire-schema.ts';

export interface OfferPreference {
  /** Either the courier, or the property to prefer. By default the cheapest offer. */
  offer: { prefer?: 'CHEAPEST' | 'FASTEST'; courier?: string };
  /** Excludes offers of a higher or unknown cost; null excludes none. */
  maxShipmentCostCents: number | null;
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

export type NoOfferExplanation = ReturnType<typeof explainNoOffer>;

/** Why no offer matches. The message has the reason, the available offers, and what to change. */
export function explainNoOffer(
  offers: readonly OfferJson[],
  { offer: { courier }, maxShipmentCostCents: maxCents }: OfferPreference,
): { reason: 'NO_COURIER' | 'COURIER_UNAVAILABLE' | 'ABOVE_LIMIT'; message: string } {
  const available = offers.filter(isAvailable);
  if (available.length === 0) {
    const statuses = offers.map(({ courier, status }) => `${courier} ${status}`).join(', ');
    const reason =
      statuses === ''
        ? 'the quote contains no offer'
        : `no courier ships this package on this route (${statuses})`;
    const message = `Nothing was shipped: ${reason}. Change the package, the order or the origin, and use a new idempotencyKey.`;
    return { reason: 'NO_COURIER', message };
  }
  const alternatives = `Available: ${available.map(costText).join(', ')}.`;
  if (courier !== undefined && !available.some((offer) => offer.courier === courier)) {
    const message = `Nothing was shipped: ${courier} has no available offer. ${alternatives} Choose one of these couriers, and use a new idempotencyKey.`;
    return { reason: 'COURIER_UNAVAILABLE', message };
  }
  const matching = courier === undefined ? available : available.filter((offer) => offer.courier === courier);
  const subject = `every available offer${courier === undefined ? '' : ` of ${courier}`}`;
  const areCostsKnown = matching.every(({ shipmentCostCents }) => isKnown(shipmentCostCents));
  const costs = `costs more than ${inCents(maxCents)}${areCostsKnown ? '' : ' or has an unknown cost'}`;
  const message = `Nothing was shipped: ${subject} ${costs}. ${alternatives} Raise maxShipmentCostCents, and use a new idempotencyKey.`;
  return { reason: 'ABOVE_LIMIT', message };
}

function inCents(cents: number | null): string {
  return `${cents} cent${cents === 1 ? '' : 's'}`;
}

function costText({ courier, shipmentCostCents }: OfferJson): string {
  return `${courier} for ${isKnown(shipmentCostCents) ? inCents(shipmentCostCents) : 'an unknown cost'}`;
}

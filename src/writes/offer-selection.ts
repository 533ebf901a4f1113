import { cheapest, fastest, isAvailable, isKnown } from '../rest/offers.ts';
import type { OfferJson } from '../rest/wire-schema.ts';

/** Which offer of a quote the client wants. */
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

/** Returns a message that says why no offer matches, which offers are available, and what to change. */
export function noOfferReason(
  offers: readonly Pick<OfferJson, 'courier' | 'status' | 'shipmentCostCents'>[],
  { offer: { courier }, maxShipmentCostCents: maxCents }: OfferPreference,
): string {
  const available = offers.filter(isAvailable);
  if (available.length === 0) {
    const statuses = offers.map(({ courier, status }) => `${courier} ${status}`).join(', ');
    return (
      `Nothing was shipped: no courier ships this package on this route (${statuses || 'none has responded'}). ` +
      'Change the package, the order or the origin, and use a new idempotencyKey.'
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

import type { Service } from '../http/server-type.ts';
import type { Shipment } from '../interface/schemas.ts';

/** The validity of a label URL: 120 hours ("Limits"). */
const validMs = 120 * 3_600_000;

/** Adds a new `labelUrl` to a shipment that has a label. */
export function withLabelUrl(service: Service, shipment: Shipment): Shipment {
  if (shipment.label === undefined) return shipment;
  const id = shipment.name.slice('shipments/'.length);
  // Whole seconds, rounded up so that the validity is at least 120 hours.
  const expires = Math.ceil((service.clock.now().getTime() + validMs) / 1000);
  const signature = service.store.signatures.sign('label', id, expires).toString('base64url');
  return {
    ...shipment,
    labelUrl: `${service.url()}/signed/labels/${encodeURIComponent(id)}.pdf?expires=${expires}&signature=${signature}`,
  };
}

/** Whether a label URL has a correct signature and has not expired. */
export function isLabelUrlValid(
  { store, clock }: Service,
  id: string,
  { expires, signature }: { expires: number; signature: string },
): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return store.signatures.verify(bytes, 'label', id, expires) && clock.now().getTime() <= expires * 1000;
}

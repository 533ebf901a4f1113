import type { Service } from '../http/server-type.ts';
import type { Shipment } from '../interface/schemas.ts';

/** "Limits": 120 hours. */
const validMs = 120 * 3_600_000;

/** The shipment as it is served: where there is a label, with a URL for it that is valid from now on. */
export function withLabelUrl(service: Service, shipment: Shipment): Shipment {
  if (shipment.label === undefined) return shipment;
  const id = shipment.name.slice('shipments/'.length);
  // Whole seconds, rounded up: valid for no less than is promised.
  const expires = Math.ceil((service.clock.now().getTime() + validMs) / 1000);
  const signature = service.store.signatures.sign('label', id, expires).toString('base64url');
  return {
    ...shipment,
    labelUrl: `${service.url()}/signed/labels/${encodeURIComponent(id)}.pdf?expires=${expires}&signature=${signature}`,
  };
}

/** Whether a label URL was issued here, unchanged since, and is still valid. */
export function isLabelUrlValid(
  { store, clock }: Service,
  id: string,
  { expires, signature }: { expires: number; signature: string },
): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return store.signatures.verify(bytes, 'label', id, expires) && clock.now().getTime() <= expires * 1000;
}

import { renderLabel } from '../../src/sandbox/label/label.ts';

const address = {
  regionCode: 'CO',
  administrativeArea: 'Antioquia',
  locality: 'Medellín (Laureles)',
  addressLines: ['Circular 4 # 70-28', 'Apto 502'],
  organization: 'Café Andino',
};
const time = '2026-11-10T02:30:00.000Z';

/** A label as the sandbox draws it, with the id as its barcode. */
export function drawnLabel(id: string): Promise<Uint8Array> {
  return renderLabel({
    shipment: {
      name: `shipments/${id}`,
      createTime: time,
      updateTime: time,
      quote: 'quotes/1',
      courier: 'couriers/fast',
      origin: 'origins/1',
      recipient: {
        firstName: 'Lucía',
        lastName: 'Ñáñez',
        documentType: null,
        document: null,
        email: 'lucia@example.com',
        phoneNumber: '+573104567890',
        address,
      },
      requiresPickup: true,
      status: 'LABEL_GENERATED',
      shipmentCostCents: 1_155_000,
      cashOnDeliveryCostCents: 0,
      totalCostCents: 1_155_000,
    },
    origin: { name: 'origins/1', location: 'locations/1', address },
    originLocation: { name: 'locations/1', address },
    courierName: 'Cóndor Veloz',
    cashOnDeliveryCents: 11_670_000,
    contentDescription: '3 × Café de Huila',
  });
}

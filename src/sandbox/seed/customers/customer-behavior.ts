import type { CustomerBehavior, ShipmentStatus } from '../../interface/schemas.ts';

/** Computes the `customerBehavior` of an "Order" from the statuses of all shipments of the customer. */
export function toCustomerBehavior(statuses: readonly ShipmentStatus[]): CustomerBehavior {
  const deliveredShipments = statuses.filter((status) => status === 'DELIVERED').length;
  const returnedShipments = statuses.filter((status) => status === 'RETURN').length;
  return {
    totalShipments: statuses.length,
    deliveredShipments,
    returnedShipments,
    reliability: reliabilityOf(deliveredShipments, returnedShipments),
  };
}

function reliabilityOf(delivered: number, returned: number): CustomerBehavior['reliability'] {
  const concluded = delivered + returned;
  if (concluded === 0) return 'NO_ORDERS';
  if (returned <= concluded * 0.1) return 'RELIABLE';
  return returned <= concluded * 0.4 ? 'MODERATE' : 'UNRELIABLE';
}

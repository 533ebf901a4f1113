import type { CustomerBehavior, ShipmentStatus } from '../../interface/schemas.ts';

/** What a customer's shipments, all of them, say about the customer: `customerBehavior` of the interface's "Order". */
export function customerBehaviorOf(statuses: readonly ShipmentStatus[]): CustomerBehavior {
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

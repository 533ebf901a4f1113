import type { OrderStatus, ShipmentStatus } from '../../interface/schemas.ts';
import { later, type Moment } from '../calendar.ts';
import type { Random } from '../random.ts';

/** A status and the time since when a record has it. */
export interface StatusSince<Status> {
  status: Status;
  updated: Moment;
}

/** The statuses of a package before delivery. Each takes an equal part of the estimated delivery time. */
const transitStatuses: readonly ShipmentStatus[] = [
  'LABEL_GENERATED',
  'SCHEDULED_PICKUP',
  'AT_ORIGIN_TERMINAL',
  'IN_PROGRESS',
  'AT_DESTINATION_TERMINAL',
  'OUT_FOR_DELIVERY',
];

/**
 * Generates the present status of a shipment.
 * @param terms the courier's estimate, the customer's return rate from 0 to 1, and the status if it is scripted
 */
export function generateShipmentStatus(
  created: Moment,
  terms: { estimatedDays: number; returnRate: number; scripted?: ShipmentStatus | undefined },
  random: Random,
): StatusSince<ShipmentStatus> {
  const generated =
    created.daysOld === 0 ? todaysStatus(random) : statusAtAge(created.daysOld, terms, random);
  const status = terms.scripted ?? generated;
  const daysOld = Math.max(0, created.daysOld - daysToStatus(status, created.daysOld, terms.estimatedDays));
  const sameDay = later(created, random.integer(5, 35));
  const anotherDay = { daysOld, fraction: random.fraction() * 0.9 };
  if (status === 'GENERATING_LABEL') return { status, updated: created };
  return { status, updated: daysOld < created.daysOld ? anotherDay : sameDay };
}

function statusAtAge(
  daysOld: number,
  { estimatedDays, returnRate }: { estimatedDays: number; returnRate: number },
  random: Random,
): ShipmentStatus {
  const luck = random.fraction();
  const returns = random.chance(returnRate);
  const step = Math.floor((daysOld / (estimatedDays + 2)) * (transitStatuses.length - 1) + random.fraction());
  if (luck < 0.02) return 'CANCELLED';
  if (luck < 0.05 && daysOld <= estimatedDays + 15) return 'WITH_ERROR';
  if (luck < 0.12 && daysOld <= 2) return 'CANCELLATION_REQUESTED';
  if (daysOld > estimatedDays + 2) return returns ? 'RETURN' : 'DELIVERED';
  if (luck > 0.85 && daysOld > estimatedDays) return 'READY_FOR_PICKUP';
  return transitStatuses[Math.min(step, transitStatuses.length - 1)] ?? 'IN_PROGRESS';
}

function todaysStatus(random: Random): ShipmentStatus {
  return random.weighted<ShipmentStatus>([
    ['GENERATING_LABEL', 3],
    ['LABEL_GENERATED', 4],
    ['SCHEDULED_PICKUP', 2],
  ]);
}

/** How many days after its creation a shipment reached a status. */
function daysToStatus(status: ShipmentStatus, daysOld: number, estimatedDays: number): number {
  switch (status) {
    case 'CANCELLATION_REQUESTED':
      return 0;
    case 'CANCELLED':
    case 'WITH_ERROR':
      return daysOld > 2 ? 1 : 0;
    case 'DELIVERED':
    case 'READY_FOR_PICKUP':
      return estimatedDays;
    case 'RETURN':
      return estimatedDays + 2;
    case 'OUT_FOR_DELIVERY':
      // Today.
      return daysOld;
    default:
      // Yesterday: the package is on its way.
      return daysOld - 1;
  }
}

/** The status of an order whose shipment has this status. */
export function toOrderStatus(shipment: ShipmentStatus): OrderStatus {
  switch (shipment) {
    case 'GENERATING_LABEL':
    case 'LABEL_GENERATED':
    case 'SCHEDULED_PICKUP':
    case 'CANCELLATION_REQUESTED':
      return 'READY';
    case 'DELIVERED':
    case 'CANCELLED':
    case 'RETURN':
      return shipment;
    default:
      return 'IN_PROGRESS';
  }
}

/** Generates the status of an order without a shipment. The partner ships some orders without a shipment record. */
export function generateUnshippedOrderStatus(
  created: Moment,
  fulfiller: 'OPERATOR' | 'PARTNER',
  random: Random,
): StatusSince<OrderStatus> {
  const updated = later(created, random.integer(1, 160));
  const { daysOld } = created;
  if (daysOld <= 6) {
    const status = random.weighted<OrderStatus>([
      ['NEW', daysOld === 0 ? 5 : 1],
      ['CONFIRMED', 3],
      ['READY', 3],
      ['CANCELLED', daysOld / 3],
    ]);
    return { status, updated: status === 'NEW' ? created : updated };
  }
  if (fulfiller === 'OPERATOR') return { status: 'CANCELLED', updated };
  const status = random.weighted<OrderStatus>([
    ['DELIVERED', 8],
    ['RETURN', 1],
    ['CANCELLED', 1],
  ]);
  const daysLater = random.integer(1, 3);
  return status === 'CANCELLED'
    ? { status, updated }
    : { status, updated: { daysOld: daysOld - daysLater, fraction: random.fraction() * 0.9 } };
}

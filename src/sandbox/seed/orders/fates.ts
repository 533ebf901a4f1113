import type { OrderStatus, ShipmentStatus } from '../../interface/schemas.ts';
import { later, type Moment } from '../calendar.ts';
import type { Random } from '../random.ts';

/** What has become of something: its status, and since when. */
export interface Fate<Status> {
  status: Status;
  updated: Moment;
}

/** The way of a package before it is handed over, a like step for each part of the estimated time. */
const way: readonly ShipmentStatus[] = [
  'LABEL_GENERATED',
  'SCHEDULED_PICKUP',
  'AT_ORIGIN_TERMINAL',
  'IN_PROGRESS',
  'AT_DESTINATION_TERMINAL',
  'OUT_FOR_DELIVERY',
];

/**
 * What has become of a shipment since it was created, given the courier's estimate and how often this customer's
 * packages come back. A status that is given stands; only its time is made up.
 */
export function shipmentFate(
  created: Moment,
  terms: { estimatedDays: number; returnRate: number; given?: ShipmentStatus | undefined },
  random: Random,
): Fate<ShipmentStatus> {
  const chosen = created.daysOld === 0 ? todaysStatus(random) : statusAfter(created.daysOld, terms, random);
  const status = terms.given ?? chosen;
  const daysOld = Math.max(0, created.daysOld - daysUntil(status, created.daysOld, terms.estimatedDays));
  const sameDay = later(created, random.integer(5, 35));
  const anotherDay = { daysOld, fraction: random.fraction() * 0.9 };
  if (status === 'GENERATING_LABEL') return { status, updated: created };
  return { status, updated: daysOld < created.daysOld ? anotherDay : sameDay };
}

function statusAfter(
  daysOld: number,
  { estimatedDays, returnRate }: { estimatedDays: number; returnRate: number },
  random: Random,
): ShipmentStatus {
  const luck = random.fraction();
  const returns = random.chance(returnRate);
  const step = Math.floor((daysOld / (estimatedDays + 2)) * (way.length - 1) + random.fraction());
  if (luck < 0.02) return 'CANCELLED';
  if (luck < 0.05 && daysOld <= estimatedDays + 15) return 'WITH_ERROR';
  if (luck < 0.12 && daysOld <= 2) return 'CANCELLATION_REQUESTED';
  if (daysOld > estimatedDays + 2) return returns ? 'RETURN' : 'DELIVERED';
  if (luck > 0.85 && daysOld > estimatedDays) return 'READY_FOR_PICKUP';
  return way[Math.min(step, way.length - 1)] ?? 'IN_PROGRESS';
}

function todaysStatus(random: Random): ShipmentStatus {
  return random.weighted<ShipmentStatus>([
    ['GENERATING_LABEL', 3],
    ['LABEL_GENERATED', 4],
    ['SCHEDULED_PICKUP', 2],
  ]);
}

/** How many days after its creation a shipment came to a status. */
function daysUntil(status: ShipmentStatus, daysOld: number, estimatedDays: number): number {
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
      return daysOld;
    default:
      return daysOld - 1;
  }
}

/** The status that a shipment gives its order. */
export function orderStatusOf(shipment: ShipmentStatus): OrderStatus {
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

/** What has become of an order that has no shipment. The partner ships some without telling: they have an end all the same. */
export function unshippedFate(
  created: Moment,
  fulfiller: 'OPERATOR' | 'PARTNER',
  random: Random,
): Fate<OrderStatus> {
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

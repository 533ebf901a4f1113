import type { Message, MessageStatus, Shipment, ShipmentStatus } from '../interface/schemas.ts';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;

/** How long a shipment keeps a status. All other statuses are final or wait for a person. */
const shipmentDurationsMs: Partial<Record<ShipmentStatus, number>> = {
  GENERATING_LABEL: 30 * secondMs,
  LABEL_GENERATED: 2 * hourMs,
  SCHEDULED_PICKUP: 4 * hourMs,
  AT_ORIGIN_TERMINAL: 12 * hourMs,
  IN_PROGRESS: 24 * hourMs,
  AT_DESTINATION_TERMINAL: 12 * hourMs,
  READY_FOR_PICKUP: 24 * hourMs,
  OUT_FOR_DELIVERY: 6 * hourMs,
  CANCELLATION_REQUESTED: hourMs,
};

const messageDurationsMs: Partial<Record<MessageStatus, number>> = {
  SENDING: 2 * secondMs,
  SENT: 3 * secondMs,
  DELIVERED: 60 * secondMs,
};

/** How long the shipment keeps its status, in ms. Undefined if it never changes by itself. */
export function shipmentStatusDurationMs({ status }: Shipment): number | undefined {
  return shipmentDurationsMs[status];
}

/** How long the message keeps its status, in ms. Undefined if it never changes by itself. */
export function messageStatusDurationMs({ status }: Message): number | undefined {
  return messageDurationsMs[status];
}

/** Returns the shipment in its next status. @param at the time of the change */
export function advanceShipment(shipment: Shipment, at: Date): Shipment {
  const status = nextShipmentStatus(shipment);
  const labelField = status === 'LABEL_GENERATED' ? { label: labelName(shipment.name) } : {};
  return { ...shipment, status, updateTime: at.toISOString(), ...labelField };
}

/** The name of the label of a shipment. */
export function labelName(shipmentName: string): string {
  return shipmentName.replace('shipments/', 'labels/');
}

/** Whether a new shipment gets its label later: one shipment in four, chosen by name. */
export function isLabelDelayed(shipmentName: string): boolean {
  return isOneIn(4, `wait for ${shipmentName}`);
}

function nextShipmentStatus({ name, status, requiresPickup }: Shipment): ShipmentStatus {
  switch (status) {
    case 'GENERATING_LABEL':
      return 'LABEL_GENERATED';
    case 'LABEL_GENERATED':
      return requiresPickup ? 'SCHEDULED_PICKUP' : 'AT_ORIGIN_TERMINAL';
    case 'SCHEDULED_PICKUP':
      return 'AT_ORIGIN_TERMINAL';
    case 'AT_ORIGIN_TERMINAL':
      return 'IN_PROGRESS';
    case 'IN_PROGRESS':
      return 'AT_DESTINATION_TERMINAL';
    case 'AT_DESTINATION_TERMINAL':
      return isOneIn(10, `counter of ${name}`) ? 'READY_FOR_PICKUP' : 'OUT_FOR_DELIVERY';
    case 'READY_FOR_PICKUP':
    case 'OUT_FOR_DELIVERY':
      return isOneIn(12, `end of ${name}`) ? 'RETURN' : 'DELIVERED';
    case 'CANCELLATION_REQUESTED':
      return 'CANCELLED';
    default:
      return status;
  }
}

/** Returns the message in its next status. One message in 25 fails. */
export function advanceMessage(message: Message): Message {
  switch (message.status) {
    case 'SENDING':
      return { ...message, status: isOneIn(25, message.name) ? 'FAILED' : 'SENT' };
    case 'SENT':
      return { ...message, status: 'DELIVERED' };
    case 'DELIVERED':
      return { ...message, status: 'READ' };
    default:
      return message;
  }
}

/** A deterministic choice of one in `count` texts: the same text always gives the same result. */
function isOneIn(count: number, text: string): boolean {
  // FNV-1a. The last mix spreads names that end with consecutive numbers.
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) % count === 0;
}

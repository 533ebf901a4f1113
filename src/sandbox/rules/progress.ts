import type { Message, MessageStatus, Shipment, ShipmentStatus } from '../interface/schemas.ts';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;

/** How long a shipment stays in a status. The others are final, or wait for a person. */
const shipmentStayMs: Partial<Record<ShipmentStatus, number>> = {
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

const messageStayMs: Partial<Record<MessageStatus, number>> = {
  SENDING: 2 * secondMs,
  SENT: 3 * secondMs,
  DELIVERED: 60 * secondMs,
};

/** How long it stays as it is, in ms; undefined for ever. */
export function stayOfShipment({ status }: Shipment): number | undefined {
  return shipmentStayMs[status];
}

/** How long it stays as it is, in ms; undefined for ever. */
export function stayOfMessage({ status }: Message): number | undefined {
  return messageStayMs[status];
}

/** The shipment in its next status, reached at `at`. */
export function nextShipment(shipment: Shipment, at: Date): Shipment {
  const status = statusAfter(shipment);
  const labelled = status === 'LABEL_GENERATED' ? { label: labelOf(shipment.name) } : {};
  return { ...shipment, status, updateTime: at.toISOString(), ...labelled };
}

/** The label's identifier, once there is one. */
export function labelOf(shipmentName: string): string {
  return shipmentName.replace('shipments/', 'labels/');
}

/** Whether the label of a new shipment takes a while: one in four, always the same ones. */
export function isLabelSlow(shipmentName: string): boolean {
  return isOneIn(4, `wait for ${shipmentName}`);
}

function statusAfter({ name, status, requiresPickup }: Shipment): ShipmentStatus {
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

/** The message in its next status. One in 25 is never sent. */
export function nextMessage(message: Message): Message {
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

/** Chance without dice: the same text always has the same luck. */
function isOneIn(count: number, text: string): boolean {
  // FNV-1a, with one more mix so that consecutive numbers at the end of a name spread.
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) % count === 0;
}

import { openEnum } from './open-enum.ts';

export const shipmentStatus = openEnum('ShipmentStatus', 'The status of a shipment.', {
  GENERATING_LABEL: 'The label is being generated.',
  LABEL_GENERATED: 'The label is ready to print.',
  SCHEDULED_PICKUP: 'The pickup is scheduled.',
  IN_PROGRESS: 'The courier has the package.',
  AT_ORIGIN_TERMINAL: "The package is at the courier's terminal near the origin.",
  AT_DESTINATION_TERMINAL: "The package is at the courier's terminal near the destination.",
  READY_FOR_PICKUP: "The recipient can collect the package at the courier's office.",
  OUT_FOR_DELIVERY: 'The package is out for delivery.',
  DELIVERED: 'The recipient received the package.',
  WITH_ERROR: 'The shipment has an error. Contact the courier.',
  CANCELLATION_REQUESTED: 'The cancellation was requested.',
  CANCELLED: 'The shipment is cancelled.',
  RETURN: 'The package is being returned, or was returned.',
});

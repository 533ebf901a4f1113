import type { CreateShipmentJson } from '../rest/api-types.ts';
import { InvalidResponseError } from '../rest/errors.ts';
import { isResourceName } from '../rest/resource-name.ts';
import type { OrderJson, RecipientJson } from '../rest/wire-schema.ts';
import { ConflictError } from './errors.ts';

/** An order of these statuses cannot be shipped, or shipped again ("Order status"). */
const finishedStatuses: readonly string[] = ['CANCELLED', 'DELIVERED', 'RETURN'];

/**
 * Checks that an order can be shipped, and has what its quote and its shipment need.
 * @throws ConflictError if the order is shipped already or finished, and InvalidResponseError if REST omitted a field
 * that the quote or the shipment needs. Without the amount of cash on delivery, the courier would collect nothing.
 */
export function expectShippable(
  order: OrderJson,
): asserts order is OrderJson & { recipient: { location: string } } {
  const { name, shipment, status, recipient, cashOnDeliveryRequestCents } = order;
  if (shipment !== undefined && shipment !== null && shipment !== '') {
    const message = `${name} is already shipped as ${shipment}. No new shipment was created. Read the field "shipment" of the order.`;
    throw new ConflictError(message, { reason: 'ALREADY_SHIPPED', shipment });
  }
  if (finishedStatuses.includes(status)) {
    const message = `${name} is ${status} and can't be shipped. Nothing was shipped.`;
    throw new ConflictError(message, { reason: 'ORDER_FINISHED' });
  }
  const missing = (field: string) =>
    new InvalidResponseError(`The REST service sent ${name} without ${field}`);
  if (!isResourceName('locations', recipient?.location)) throw missing("its recipient's location");
  if (!Array.isArray(recipient.address?.addressLines)) throw missing("its recipient's address");
  if (typeof cashOnDeliveryRequestCents !== 'number') throw missing('its amount of cash on delivery');
}

/** The fields of an order that its quote depends on. */
export function termsOf({ recipient, cashOnDeliveryRequestCents }: OrderJson): object {
  return { destination: recipient.location, cashOnDeliveryRequestCents };
}

/** The recipient for Create Shipment ("Shipment"). The quote's destination implies region, area and locality. */
export function shipmentRecipient(recipient: RecipientJson): CreateShipmentJson['recipient'] {
  const { firstName, lastName, email, phoneNumber, address, documentType, document } = recipient;
  const { addressLines, organization } = address;
  return {
    firstName,
    lastName,
    email,
    phoneNumber,
    address: { addressLines, organization },
    documentType,
    document,
  };
}

import type { RecipientInput, ShipmentRecipientInput } from '../interface/requests.ts';
import type { Address, Recipient, ShipmentRecipient } from '../interface/schemas.ts';
import { invalid } from '../interface/service-error.ts';
import { type Store, sharedLocations } from '../store/store.ts';

/**
 * Makes the recipient of an order. The location gives the address fields that requests do not send ("Recipient").
 * @throws ServiceError 400 for an unknown location
 */
export function recipientFrom(store: Store, input: RecipientInput): Recipient {
  return { ...personFrom(store, input, input.location, 'recipient.location'), location: input.location };
}

/** Makes the recipient of a shipment at its quote's destination. @throws ServiceError 400 for an unknown location */
export function shipmentRecipientFrom(
  store: Store,
  input: ShipmentRecipientInput,
  destination: string,
): ShipmentRecipient {
  return personFrom(store, input, destination, 'quote');
}

function personFrom(
  store: Store,
  input: ShipmentRecipientInput,
  locationName: string,
  field: string,
): ShipmentRecipient {
  const location = store.locations.find(sharedLocations, locationName);
  if (location === undefined)
    throw invalid({ field, message: `refers to an unknown location: ${locationName}` });
  const { firstName, lastName, documentType = null, document = null, email, phoneNumber } = input;
  const address: Address = {
    ...location.address,
    addressLines: input.address.addressLines,
    organization: input.address.organization ?? '',
  };
  return { firstName, lastName, documentType, document, email, phoneNumber, address };
}

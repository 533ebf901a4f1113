import { InvalidResponseError } from '../../rest/errors.ts';
import type { RecipientJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { openEnum } from '../fields/open-enum.ts';
import { relation } from '../fields/related-record.ts';
import { Address } from '../places/address.ts';
import { Location } from '../places/location.ts';

export const documentType = openEnum('DocumentType', 'The kind of an identity document.', {
  CC: 'Cédula de ciudadanía, for Colombian citizens.',
  CE: 'Cédula de extranjería, for foreign residents.',
  NI: 'NIT, for companies and other taxpayers.',
  TI: 'Tarjeta de identidad, for minors.',
});

export const Recipient = builder.objectRef<RecipientJson>('Recipient').implement({
  description: 'The person who receives a package, as stored with the order or the shipment.',
  fields: (t) => ({
    firstName: t.exposeString('firstName', { description: 'The given names.' }),
    lastName: t.exposeString('lastName', { description: 'The family names.' }),
    fullName: t.string({
      description: 'The given and family names, separated by a space.',
      resolve: fullName,
    }),
    documentType: t.field({
      type: documentType.ref,
      nullable: true,
      description: 'The kind of identity document, if known.',
      resolve: (recipient) => documentType.recognize(recipient.documentType),
    }),
    document: t.exposeString('document', {
      nullable: true,
      description: 'The number of the identity document.',
    }),
    email: t.exposeString('email', { description: 'The email address.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'The phone number.' }),
    address: t.expose('address', { type: Address, description: 'The street address for the delivery.' }),
    location: t.field(
      relation(
        Location,
        'locations',
        'The location of the address. Always null for the recipient of a shipment.',
        ({ location }) => location,
      ),
    ),
  }),
});

/** @throws InvalidResponseError if REST left out a name, because half a name would look like a full name. */
function fullName({ firstName, lastName }: RecipientJson): string {
  if (typeof firstName !== 'string' || typeof lastName !== 'string')
    throw new InvalidResponseError('The REST service sent a recipient without a valid first or last name');
  return `${firstName} ${lastName}`.trim();
}

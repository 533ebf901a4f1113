import { InvalidResponseError } from '../../rest/errors.ts';
import type { RecipientJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { openEnum } from '../fields/open-enum.ts';
import { relatedRecord } from '../fields/related-record.ts';
import { Address } from '../places/address.ts';
import { Location } from '../places/location.ts';

export const documentType = openEnum('DocumentType', 'The kind of an identity document.', {
  CC: 'Cédula de ciudadanía: a Colombian citizen.',
  CE: 'Cédula de extranjería: a foreign resident.',
  NI: 'NIT: a company or another taxpayer.',
  TI: 'Tarjeta de identidad: a minor.',
});

export const Recipient = builder.objectRef<RecipientJson>('Recipient').implement({
  description: 'The person who receives a package, as the order or the shipment has recorded them.',
  fields: (t) => ({
    firstName: t.exposeString('firstName', { description: 'Given names.' }),
    lastName: t.exposeString('lastName', { description: 'Family names.' }),
    fullName: t.string({ description: 'First and last name with a space between them.', resolve: fullName }),
    documentType: t.field({
      type: documentType.ref,
      nullable: true,
      description: 'The kind of identity document, where one was given.',
      resolve: (recipient) => documentType.recognize(recipient.documentType),
    }),
    document: t.exposeString('document', {
      nullable: true,
      description: 'The number of the identity document.',
    }),
    email: t.exposeString('email', { description: 'Email address.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number.' }),
    address: t.expose('address', { type: Address, description: 'Where the package goes.' }),
    location: t.field({
      type: Location,
      nullable: true,
      description:
        "The place of the address among the supported locations. Null on a shipment's recipient. " +
        'Costs a filtered `GET /v1/locations` for each distinct location, unless only its id is selected.',
      resolve: ({ location }, _args, { loaders }, info) =>
        relatedRecord('locations', location, loaders, info),
    }),
  }),
});

/** @throws InvalidResponseError if REST left out a name, because half a name would look like a full name. */
function fullName({ firstName, lastName }: RecipientJson): string {
  if (typeof firstName !== 'string' || typeof lastName !== 'string')
    throw new InvalidResponseError('Expected a first and a last name of a recipient from REST');
  return `${firstName} ${lastName}`.trim();
}

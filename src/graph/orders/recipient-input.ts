import type { InputFieldBuilder } from '@pothos/core';
import * as v from 'valibot';
import { builder } from '../builder.ts';
import { idDescription, locationId } from '../mutation/input-rules.ts';
import { documentType } from './recipient.ts';

const AddressInput = builder.inputType('AddressInput', {
  description:
    "A street address. The country, state and city come from the recipient's `location`, or from the " +
    '`destination` of the quote.',
  fields: (t) => ({
    addressLines: t.stringList({ required: true, description: 'The street address, usually two lines.' }),
    organization: t.string({ description: 'The company or building at the address, or null.' }),
  }),
});

const personFields = (t: InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>) => ({
  firstName: t.string({ required: true, description: 'The given names.' }),
  lastName: t.string({ required: true, description: 'The family names.' }),
  email: t.string({ required: true, description: 'The email address.' }),
  phoneNumber: t.string({ required: true, description: 'The phone number, such as `+573001112233`.' }),
  address: t.field({
    type: AddressInput,
    required: true,
    description: 'The street address for the delivery.',
  }),
  documentType: t.field({
    type: documentType.ref,
    description: 'The kind of identity document, or null. `UNRECOGNIZED` is not valid.',
  }),
  document: t.string({ description: 'The number of the identity document, or null.' }),
});

const forOutputOnly = 'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only';

/** The rules of "Recipient" in requests, without `location`. */
const personRules = {
  firstName: v.string(),
  lastName: v.string(),
  email: v.string(),
  phoneNumber: v.string(),
  address: v.object({
    addressLines: v.array(v.string()),
    organization: v.exactOptional(v.nullable(v.string())),
  }),
  documentType: v.exactOptional(v.nullable(v.pipe(v.string(), v.notValue('UNRECOGNIZED', forOutputOnly)))),
  document: v.exactOptional(v.nullable(v.string())),
};

export const OrderRecipientInput = builder.inputType('OrderRecipientInput', {
  description: 'The person who receives an order.',
  fields: (t) => ({
    ...personFields(t),
    location: t.id({
      required: true,
      description: idDescription('The location of the address', 'locations'),
    }),
  }),
});

export const orderRecipientRules = v.object({ ...personRules, location: locationId });

export const ShipmentRecipientInput = builder.inputType('ShipmentRecipientInput', {
  description: 'The person who receives a shipment at the destination of its quote.',
  fields: personFields,
});

export const shipmentRecipientRules = v.object(personRules);

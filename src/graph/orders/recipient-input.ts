import type { InputFieldBuilder } from '@pothos/core';
import * as v from 'valibot';
import { builder } from '../builder.ts';
import { list, locationId, nullable, object, optional, text } from '../mutation/input-rules.ts';
import { documentType } from './recipient.ts';

const AddressInput = builder.inputType('AddressInput', {
  description: 'A street address. Country, state and city follow from the location that it goes with.',
  fields: (t) => ({
    addressLines: t.stringList({ required: true, description: 'The street detail, two lines as a rule.' }),
    organization: t.string({ description: 'The company or building at the address; null for none.' }),
  }),
});

const personFields = (t: InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>) => ({
  firstName: t.string({ required: true, description: 'Given names.' }),
  lastName: t.string({ required: true, description: 'Family names.' }),
  email: t.string({ required: true, description: 'Email address.' }),
  phoneNumber: t.string({ required: true, description: 'Phone number, such as `+573001112233`.' }),
  address: t.field({ type: AddressInput, required: true, description: 'Where the package goes.' }),
  documentType: t.field({
    type: documentType.ref,
    description: 'The kind of identity document; null for none. Not `UNRECOGNIZED`.',
  }),
  document: t.string({ description: 'The number of the identity document; null for none.' }),
});

/** The rules of "Recipient" in requests, without `location`. */
const personRules = {
  firstName: text,
  lastName: text,
  email: text,
  phoneNumber: text,
  address: object({ addressLines: list(text), organization: optional(nullable(text)) }),
  documentType: optional(
    nullable(
      v.pipe(
        text,
        v.check(
          (value) => value !== 'UNRECOGNIZED',
          'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only',
        ),
      ),
    ),
  ),
  document: optional(nullable(text)),
};

export const OrderRecipientInput = builder.inputType('OrderRecipientInput', {
  description: 'The person who receives an order.',
  fields: (t) => ({
    ...personFields(t),
    location: t.id({
      required: true,
      description:
        'The place of the address among the supported locations, `locations/<identifier>` or the bare identifier; at ' +
        'most 96 characters with `locations/`.',
    }),
  }),
});

export const orderRecipientRules = object({ ...personRules, location: locationId });

export const ShipmentRecipientInput = builder.inputType('ShipmentRecipientInput', {
  description: "The person who receives a shipment, at the destination of the shipment's quote.",
  fields: personFields,
});

export const shipmentRecipientRules = object(personRules);

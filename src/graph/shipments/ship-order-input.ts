import * as v from 'valibot';
import { builder } from '../builder.ts';
import { describedEnum } from '../fields/described-enum.ts';
import {
  boolean,
  centsAtLeast,
  idDescription,
  idempotencyKey,
  object,
  optional,
  recordId,
} from '../mutation/input-rules.ts';
import { PackageInput, packageRules } from '../quotes/package-input.ts';

const OfferPreference = describedEnum('OfferPreference', 'A preference among available offers.', {
  CHEAPEST: 'The cheapest offer. Among equals, the faster one.',
  FASTEST: 'The fastest offer. Among equals, the cheaper one.',
});

const OfferChoiceInput = builder.inputType('OfferChoiceInput', {
  description: 'The choice among the available offers: either a preference or a courier.',
  isOneOf: true,
  fields: (t) => ({
    prefer: t.field({ type: OfferPreference, description: 'The preference that selects the offer.' }),
    courier: t.id({ description: idDescription('The courier whose offer to accept', 'couriers') }),
  }),
});

export const ShipOrderInput = builder.inputType('ShipOrderInput', {
  description: "An order with its package and its origin. The order's recipient receives the package.",
  fields: (t) => ({
    order: t.id({ required: true, description: idDescription('The order without a shipment', 'orders') }),
    origin: t.id({ required: true, description: idDescription('The origin of the package', 'origins') }),
    package: t.field({ type: PackageInput, required: true, description: 'The package to deliver.' }),
    offer: t.field({ type: OfferChoiceInput, description: 'The offer to accept. By default the cheapest.' }),
    maxShipmentCostCents: t.field({
      type: 'Cents',
      description: 'The highest cost in cents, without the fee for cash on delivery. By default any.',
    }),
    requiresPickup: t.boolean({
      defaultValue: true,
      description: 'Whether the courier collects the package, else the merchant brings it. Never null.',
    }),
    idempotencyKey: t.string({
      description:
        'A key of 1 to 255 characters, for 24 hours. A retry with it returns the same result or continues after ' +
        'the last known step, for `GET /v1/shipments/{id}`, or `GET /v1/quotes/{id}` after `NoOffer`.',
    }),
  }),
});

/** The rules of "Quote" and "Create Shipment body", for the fields that do not come from the order and the origin. */
export const shipOrderRules = object({
  order: recordId('orders'),
  origin: recordId('origins'),
  package: packageRules,
  offer: v.nullish(
    object({
      prefer: optional(v.picklist(['CHEAPEST', 'FASTEST'])),
      courier: optional(recordId('couriers')),
    }),
    { prefer: 'CHEAPEST' },
  ),
  maxShipmentCostCents: v.nullish(centsAtLeast(0), null),
  requiresPickup: boolean,
  idempotencyKey,
});

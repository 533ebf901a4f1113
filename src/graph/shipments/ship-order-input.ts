import * as v from 'valibot';
import { builder } from '../builder.ts';
import {
  boolean,
  centsAtLeast,
  idempotencyKey,
  object,
  optional,
  recordId,
} from '../mutation/input-rules.ts';
import { PackageInput, packageRules } from '../quotes/package-input.ts';

const OfferPreference = builder.enumType('OfferPreference', {
  description: 'What matters most in the choice among available offers.',
  values: {
    CHEAPEST: { description: 'The one that costs least; the faster one among equals.' },
    FASTEST: { description: 'The one that arrives first; the cheaper one among equals.' },
  },
});

const OfferChoiceInput = builder.inputType('OfferChoiceInput', {
  description: 'Which of the available offers to take: either the best one or that of a courier.',
  isOneOf: true,
  fields: (t) => ({
    prefer: t.field({ type: OfferPreference, description: 'Take the best one.' }),
    courier: t.id({ description: 'Take the offer of this courier, `couriers/<code>` or the bare code.' }),
  }),
});

export const ShipOrderInput = builder.inputType('ShipOrderInput', {
  description: 'An order to ship, from where, and in what package. It goes to the recipient of the order.',
  fields: (t) => ({
    order: t.id({
      required: true,
      description: 'The order, `orders/<identifier>` or the bare identifier. It must not be shipped yet.',
    }),
    origin: t.id({
      required: true,
      description:
        "Where the package is collected: one of the merchant's origins, `origins/<identifier>` or the bare identifier.",
    }),
    package: t.field({
      type: PackageInput,
      required: true,
      description: 'The package that the courier is to carry.',
    }),
    offer: t.field({
      type: OfferChoiceInput,
      description: 'Which offer to take. Left out or null, it is the cheapest.',
    }),
    maxShipmentCostCents: t.field({
      type: 'Cents',
      description:
        'The most that the shipment may cost, from 0, without what collecting the cash on delivery costs. Left out or ' +
        'null, there is no limit.',
    }),
    requiresPickup: t.boolean({
      defaultValue: true,
      description:
        'Whether the courier is to collect the package, or it is brought to the courier. Null is refused.',
    }),
    idempotencyKey: t.string({
      description:
        'A key of your own, 1 to 255 characters, new for each shipment. For 24 hours the same key and input, with any ' +
        'access token of the merchant, return the same result and ship nothing twice. After an `OutcomeUnknown`, they ' +
        'continue after the last known step. A repeated key costs `GET /v1/shipments/{id}`, and for `NoOffer` ' +
        '`GET /v1/quotes/{id}`.',
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

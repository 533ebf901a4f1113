import * as v from 'valibot';
import { builder } from '../builder.ts';
import { describedEnum } from '../fields/described-enum.ts';
import { centsAtLeast, idDescription, idempotencyKey, recordId } from '../mutation/input-rules.ts';
import { PackageInput, packageRules } from '../quotes/package-input.ts';

const OfferPreference = describedEnum('OfferPreference', 'A preference among available offers.', {
  CHEAPEST: 'The cheapest offer. Of offers with the same cost, the fastest one.',
  FASTEST: 'The fastest offer. Of offers with the same delivery time, the cheapest one.',
});

const OfferChoiceInput = builder.inputType('OfferChoiceInput', {
  description: 'The choice among the available offers: either a preference or a courier.',
  isOneOf: true,
  fields: (t) => ({
    prefer: t.field({ type: OfferPreference, description: 'The preference that selects the offer.' }),
    courier: t.id({ description: idDescription('The courier whose offer you accept', 'couriers') }),
  }),
});

export const ShipOrderInput = builder.inputType('ShipOrderInput', {
  description: "An order with its package and its origin. The order's recipient receives the package.",
  fields: (t) => ({
    order: t.id({
      required: true,
      description: idDescription('The order', 'orders', 'It must not have a shipment yet.'),
    }),
    origin: t.id({
      required: true,
      description: idDescription('The origin where the courier collects the package', 'origins'),
    }),
    package: t.field({ type: PackageInput, required: true, description: 'The package to deliver.' }),
    offer: t.field({ type: OfferChoiceInput, description: 'The offer to accept. By default the cheapest.' }),
    maxShipmentCostCents: t.field({
      type: 'Cents',
      description:
        'The maximum cost of the shipment in cents, without the fee for cash on delivery. By ' +
        'default there is no maximum.',
    }),
    requiresPickup: t.boolean({
      defaultValue: true,
      description:
        'Whether the courier collects the package. Otherwise the merchant brings the package to the courier. Null ' +
        'is not valid.',
    }),
    idempotencyKey: t.string({
      description:
        'A key that you choose for this shipment, 1 to 255 characters, or null. For 24 hours, a retry with the same key and ' +
        'input returns the same result. If the earlier attempt did not finish, the retry first looks for the shipment of ' +
        'that attempt. The retry creates a shipment only if it finds none.',
    }),
  }),
});

/** The rules of "Quote" and "Create Shipment body", for the fields that do not come from the order and the origin. */
export const shipOrderRules = v.object({
  order: recordId('orders'),
  origin: recordId('origins'),
  package: packageRules,
  offer: v.nullish(
    v.object({
      prefer: v.exactOptional(v.picklist(['CHEAPEST', 'FASTEST'])),
      courier: v.exactOptional(recordId('couriers')),
    }),
    { prefer: 'CHEAPEST' },
  ),
  maxShipmentCostCents: v.nullish(centsAtLeast(0), null),
  requiresPickup: v.boolean(),
  idempotencyKey,
});

import * as v from 'valibot';
import type { ShipmentJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import { idDescription, idempotencyKey, keyDescription, recordId } from '../mutation/input-rules.ts';
import { NotFound, resultUnion } from '../mutation/user-error.ts';
import { ShipmentRecipientInput, shipmentRecipientRules } from '../orders/recipient-input.ts';
import { Shipment } from './shipment.ts';

const CreateShipmentInput = builder.inputType('CreateShipmentInput', {
  description: 'An offer of a quote, with the origin and the recipient of the package.',
  fields: (t) => ({
    quote: t.id({
      required: true,
      description: idDescription(
        'The quote with the offer',
        'quotes',
        'If the quote has an order, the shipment belongs to that order.',
      ),
    }),
    courier: t.id({
      required: true,
      description: idDescription(
        'The courier whose offer you accept',
        'couriers',
        'The offer must be `available`.',
      ),
    }),
    origin: t.id({
      required: true,
      description: idDescription(
        'The origin where the courier collects the package',
        'origins',
        'The `location` of this origin must be the `origin` of the quote.',
      ),
    }),
    recipient: t.field({
      type: ShipmentRecipientInput,
      required: true,
      description: 'The person who receives the package.',
    }),
    requiresPickup: t.boolean({
      required: true,
      description:
        'Whether the courier collects the package. Otherwise the merchant brings it to the courier.',
    }),
    idempotencyKey: t.string({
      description: keyDescription('shipment', 'creates', '`GET /v1/shipments/{id}`'),
    }),
  }),
});

/** The rules of "Create Shipment body". */
const rules = v.object({
  quote: recordId('quotes'),
  courier: recordId('couriers'),
  origin: recordId('origins'),
  recipient: shipmentRecipientRules,
  requiresPickup: v.boolean(),
  idempotencyKey,
});

const CreateShipmentSuccess = builder
  .objectRef<{ __typename: 'CreateShipmentSuccess'; shipment: ShipmentJson }>('CreateShipmentSuccess')
  .implement({
    description: 'The shipment was created.',
    fields: (t) => ({
      shipment: t.expose('shipment', {
        type: Shipment,
        description: 'The new shipment. Its label may come later: `label` is then null.',
      }),
    }),
  });

const CreateShipmentResult = resultUnion('CreateShipmentResult', [CreateShipmentSuccess, NotFound]);

builder.mutationField('createShipment', (t) =>
  t.field({
    type: CreateShipmentResult,
    nullable: true,
    description:
      'Accepts an offer of a quote, and creates a paid shipment with a label. Costs `GET /v1/quotes/{id}`, ' +
      '`GET /v1/orders/{id}` if the quote has an order, and `POST /v1/shipments`.',
    args: inputArg(CreateShipmentInput, 'The offer to accept, the origin and the recipient.'),
    resolve: defineMutation({
      rules,
      target: ({ quote }) => ({ id: quote, path: 'quote' }),
      run: async ({ idempotencyKey, ...shipment }, { writes }) => ({
        __typename: 'CreateShipmentSuccess' as const,
        shipment: await writes.createShipment(shipment, idempotencyKey),
      }),
      adviceOnUnknownOutcome: ({ quote }) =>
        `Check the field "shipment" of the order of ${quote}. If the quote has no order, look for a shipment of this ` +
        'quote among the newest shipments. If you find no shipment, ship again with a new idempotencyKey.',
    }),
  }),
);

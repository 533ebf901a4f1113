import type { ShipmentJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { boolean, idempotencyKey, object, recordId } from '../mutation/input-rules.ts';
import { runMutation } from '../mutation/run-mutation.ts';
import { NotFound, resultUnion } from '../mutation/user-error.ts';
import { ShipmentRecipientInput, shipmentRecipientRules } from '../orders/recipient-input.ts';
import { Shipment } from './shipment.ts';

const CreateShipmentInput = builder.inputType('CreateShipmentInput', {
  description: 'An offer of a quote, from where it is to be carried, and to whom.',
  fields: (t) => ({
    quote: t.id({
      required: true,
      description:
        'The quote that is accepted, `quotes/<identifier>` or the bare identifier. Its order, if it has one, is what is ' +
        'shipped.',
    }),
    courier: t.id({
      required: true,
      description:
        'The courier whose offer is accepted, `couriers/<code>` or the bare code: one with an `available` offer.',
    }),
    origin: t.id({
      required: true,
      description:
        "Where the package is collected: one of the merchant's origins, at the location that the quote starts from, " +
        '`origins/<identifier>` or the bare identifier.',
    }),
    recipient: t.field({
      type: ShipmentRecipientInput,
      required: true,
      description: 'Who receives the package.',
    }),
    requiresPickup: t.boolean({
      required: true,
      description: 'Whether the courier is to collect the package, or it is brought to the courier.',
    }),
    idempotencyKey: t.string({
      description:
        'A key of your own, 1 to 255 characters, new for each shipment. For 24 hours the same key and input, with any ' +
        'access token of the merchant, return the same shipment and ship nothing twice. A repeated key costs ' +
        '`GET /v1/shipments/{id}`. Requests with keys accept a quote one after another.',
    }),
  }),
});

/** The rules of "Create Shipment body". */
const rules = object({
  quote: recordId('quotes'),
  courier: recordId('couriers'),
  origin: recordId('origins'),
  recipient: shipmentRecipientRules,
  requiresPickup: boolean,
  idempotencyKey,
});

const CreateShipmentSuccess = builder
  .objectRef<{ __typename: 'CreateShipmentSuccess'; shipment: ShipmentJson }>('CreateShipmentSuccess')
  .implement({
    description: 'The shipment is created.',
    fields: (t) => ({
      shipment: t.expose('shipment', {
        type: Shipment,
        description: 'The shipment as it was created; its label may exist already.',
      }),
    }),
  });

const CreateShipmentResult = resultUnion('CreateShipmentResult', {
  description: 'What came of creating a shipment.',
  types: [CreateShipmentSuccess, NotFound],
});

builder.mutationField('createShipment', (t) =>
  t.field({
    type: CreateShipmentResult,
    nullable: true,
    description:
      'Accepts an offer of a quote: creates the shipment, which costs what was offered, and has its label made. Costs ' +
      '`POST /v1/shipments`, and with a new `idempotencyKey` first `GET /v1/quotes/{id}`. With keys, an order has one ' +
      'shipment, and so has a quote without an order: a second request waits for the first, and then is a `Conflict`.',
    args: {
      input: t.arg({ type: CreateShipmentInput, required: true, description: 'What is shipped, and how.' }),
    },
    resolve: (_root, { input }, { writes }, info) =>
      runMutation({
        rules,
        input,
        info,
        targetId: ({ quote }) => quote,
        run: async ({ idempotencyKey, ...shipment }) => ({
          __typename: 'CreateShipmentSuccess' as const,
          shipment: await writes.createShipment(shipment, idempotencyKey),
        }),
        adviceOnUnknownOutcome: ({ quote }) =>
          `Look whether the order of ${quote} has a shipment now, in its field "shipment"; where the quote has no order, ` +
          'look for one of this quote among the newest shipments. Only if there is none, ship it again, with a new ' +
          'idempotencyKey.',
      }),
  }),
);

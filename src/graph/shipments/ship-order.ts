import type { GraphQLResolveInfo } from 'graphql';
import type { Loaders } from '../../loaders/loaders.ts';
import type { OfferJson, OrderJson, QuoteJson, ShipmentJson } from '../../rest/wire-schema.ts';
import { type NamedRecord, restoredRecordMissing, type ShippedOrder } from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { selectsOnlyId } from '../fields/related-record.ts';
import { runBatch } from '../mutation/run-batch.ts';
import { runMutation } from '../mutation/run-mutation.ts';
import { NotFound, resultUnion, UserError, WriteFailed } from '../mutation/user-error.ts';
import { Order } from '../orders/order.ts';
import { loadCreatedQuote, Offer, Quote } from '../quotes/quote.ts';
import { ShipOrderInput, shipOrderRules } from './ship-order-input.ts';
import { Shipment } from './shipment.ts';

interface ShipOrderSuccessSource {
  __typename: 'ShipOrderSuccess';
  /** The order as it was before it was shipped; for a repeated key only its name. */
  order: OrderJson | NamedRecord;
  quote: QuoteJson | NamedRecord;
  offer: OfferJson;
  shipment: ShipmentJson;
}

const ShipOrderSuccess = builder.objectRef<ShipOrderSuccessSource>('ShipOrderSuccess').implement({
  description: 'The order is shipped.',
  fields: (t) => ({
    order: t.field({
      type: Order,
      description:
        'The order as it is now. Costs `GET /v1/orders/{id}` unless only its id is selected; where that fails, it is ' +
        'the order as it was before, with its shipment.',
      resolve: ({ order }, _args, { loaders }, info) =>
        // Only the id is selected, so nothing but the name is read from the order.
        selectsOnlyId(info) ? (order as OrderJson) : rereadOrder(order, loaders),
    }),
    quote: t.field({
      type: Quote,
      description: 'The quote that was asked for, with the offer or the refusal of each courier.',
      resolve: ({ quote }, _args, { loaders }, info) => loadCreatedQuote(quote, loaders, info),
    }),
    offer: t.expose('offer', { type: Offer, description: 'The offer that was taken.' }),
    shipment: t.expose('shipment', {
      type: Shipment,
      description: 'The shipment as it was created; its label may exist already.',
    }),
  }),
});

/** Reads the order again. If that fails, returns the earlier order: the client must still learn of the shipment. */
async function rereadOrder(
  earlierOrder: OrderJson | NamedRecord,
  { orderById }: Loaders,
): Promise<OrderJson> {
  const { name } = earlierOrder;
  orderById.clear(name);
  if (!('status' in earlierOrder)) return (await orderById.load(name)) ?? restoredRecordMissing(name);
  return (await orderById.load(name).catch(() => null)) ?? earlierOrder;
}

interface NoOfferSource {
  __typename: 'NoOffer';
  message: string;
  quote: QuoteJson | NamedRecord;
}

const NoOffer = builder.objectRef<NoOfferSource>('NoOffer').implement({
  description:
    'No available offer is as wished, and nothing was shipped. `message` says why, and what offers there are.',
  interfaces: [UserError],
  fields: (t) => ({
    quote: t.field({
      type: Quote,
      description: 'The quote that was asked for, with the offer or the refusal of each courier.',
      resolve: ({ quote }, _args, { loaders }, info) => loadCreatedQuote(quote, loaders, info),
    }),
  }),
});

const ShipOrderResult = resultUnion('ShipOrderResult', {
  description: 'What came of shipping an order.',
  types: [ShipOrderSuccess, NoOffer, NotFound, WriteFailed],
});

builder.mutationFields((t) => ({
  shipOrder: t.field({
    type: ShipOrderResult,
    nullable: true,
    description:
      'Ships an order: asks the couriers for a quote from the origin to the recipient, for the cash on delivery of the ' +
      'order; takes an offer; and creates the shipment, which is paid for. Costs `GET /v1/orders/{id}` and ' +
      '`GET /v1/origins`, then `POST /v1/quotes`, then `POST /v1/shipments`. An order is shipped ' +
      'once, over all access tokens of the merchant. A second request waits for the first, and then is a `Conflict`, or ' +
      'returns the same shipment for the same key. After ' +
      'an attempt that got no answer to the last call, any request for the order looks for the shipment with ' +
      '`GET /v1/orders/{id}`, and `GET /v1/shipments/{id}` or `GET /v1/shipments`. Only where there is none, one is ' +
      'created.',
    args: {
      input: t.arg({ type: ShipOrderInput, required: true, description: 'What is shipped, and how.' }),
    },
    resolve: (_root, { input }, context, info) => ship(input, context, info),
  }),
  shipOrders: t.field({
    type: [ShipOrderResult],
    nullable: true,
    description:
      'Ships up to 100 orders, and answers in their order, each with a result of its own; where all fail alike, for no ' +
      'fault of their own, with that one error. Costs `GET /v1/origins` once ' +
      'and, for each order, `GET /v1/orders/{id}`, `POST /v1/quotes` and `POST /v1/shipments`, several at a time; ' +
      'with the key of an attempt that got no answer, what `shipOrder` costs then.',
    args: {
      inputs: t.arg({
        type: [ShipOrderInput],
        required: true,
        description: 'What is shipped, at most 100 orders.',
      }),
    },
    resolve: (_root, { inputs }, context, info) =>
      runBatch(
        inputs,
        ({ order }) => order,
        (input) => ship(input, context, info),
        context,
      ),
  }),
}));

function ship(input: typeof ShipOrderInput.$inferInput, { writes }: Context, info: GraphQLResolveInfo) {
  return runMutation({
    rules: shipOrderRules,
    input,
    info,
    targetId: ({ order }) => order,
    // Fields of the quote and shipment bodies. Most of them come from the order.
    restToInputPaths: {
      destination: 'order',
      cashOnDeliveryRequestCents: 'order',
      recipient: 'order',
      quote: 'order',
      courier: 'offer',
    },
    run: async ({ idempotencyKey, ...shipOrderRequest }) =>
      resultSource(await writes.shipOrder(shipOrderRequest, idempotencyKey)),
    adviceOnUnknownOutcome: ({ order, idempotencyKey }) => adviceOnUnknownOutcome(order, idempotencyKey),
  });
}

function resultSource(shipped: ShippedOrder): ShipOrderSuccessSource | NoOfferSource {
  return 'noOfferReason' in shipped
    ? { __typename: 'NoOffer', message: shipped.noOfferReason, quote: shipped.quote }
    : { __typename: 'ShipOrderSuccess', ...shipped };
}

function adviceOnUnknownOutcome(order: string, key: string | null | undefined): string {
  const orderLookup = `with order(id: ${JSON.stringify(order)}) whether it has a shipment`;
  return key === undefined || key === null
    ? `Look ${orderLookup} before you ship it again, and give an idempotencyKey, which makes this server look.`
    : `Send it again with the same idempotencyKey, which goes on where this has ended, or look ${orderLookup}.`;
}

import { timeMs } from '../../base/date-time.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import type { OrderJson } from '../../rest/wire-schema.ts';
import type { NoOfferExplanation } from '../../writes/offer-selection.ts';
import {
  type NamedRecord,
  type ShippedOrder,
  throwRestoredRecordMissing,
} from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import { relation } from '../fields/related-record.ts';
import { selectsOnlyId } from '../fields/selection.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import { bareIdentifier, inputsArg, runBatch } from '../mutation/run-batch.ts';
import { Conflict, codeEnum, NotFound, resultUnion, UserError, WriteFailed } from '../mutation/user-error.ts';
import { Order } from '../orders/order.ts';
import { createdQuote, Offer } from '../quotes/quote.ts';
import { ShipOrderInput, shipOrderRules } from './ship-order-input.ts';
import { Shipment } from './shipment.ts';

type ShipOrderSuccessSource = { __typename: 'ShipOrderSuccess' } & Exclude<ShippedOrder, { noOffer: object }>;

const ShipOrderSuccess = builder.objectRef<ShipOrderSuccessSource>('ShipOrderSuccess').implement({
  description: 'The order was shipped.',
  fields: (t) => ({
    order: t.field({
      type: Order,
      description:
        'The order, which Waybill reads again after the shipment was created. If Waybill cannot read the order, or ' +
        'reads an older one, the field returns the earlier order. The order has the new shipment, even if the REST ' +
        'service shows it later. ' +
        'Costs `GET /v1/orders/{id}` if more than `id` is selected.',
      resolve: ({ order, shipment }, _args, { loaders }, info) =>
        // Only the id is selected, so nothing but the name is read from the order.
        selectsOnlyId(info) ? (order as OrderJson) : rereadOrder(order, shipment.name, loaders),
    }),
    quote: t.field(createdQuote('The requested quote, with one offer or rejection per courier.')),
    offer: t.expose('offer', { type: Offer, description: 'The accepted offer.' }),
    shipment: t.expose('shipment', {
      type: Shipment,
      description: 'The new shipment. Its label may come later: `label` is then null.',
    }),
  }),
});

/**
 * Reads the order again. If the read fails, or shows an older row of a list, returns the earlier order: the client must
 * still learn of the shipment. After a retry with the same key only the name is known, so the read must succeed.
 * @param shipment the name of the new shipment, which REST may write into the order later
 * @throws the error of the read, if only the name is known.
 */
async function rereadOrder(
  earlier: OrderJson | NamedRecord,
  shipment: string,
  { orderById }: Loaders,
): Promise<OrderJson> {
  const { name } = earlier;
  orderById.clear(name);
  const read = orderById.load(name);
  const later = 'status' in earlier ? newerOf(earlier, await read.catch(() => null)) : await read;
  if (later === null) return throwRestoredRecordMissing(name);
  return { ...later, shipment: later.shipment || shipment };
}

function newerOf(earlier: OrderJson, read: OrderJson | null): OrderJson {
  if (read === null) return earlier;
  const [earlierMs, readMs] = [earlier, read].map(({ updateTime }) => timeMs(updateTime));
  return earlierMs !== undefined && readMs !== undefined && readMs < earlierMs ? earlier : read;
}

type NoOfferSource = { __typename: 'NoOffer' } & NoOfferExplanation & Pick<ShippedOrder, 'quote'>;

const noOfferReason = codeEnum<NoOfferExplanation['reason']>('NoOfferReason', 'The reason for a `NoOffer`', {
  NO_COURIER: 'No courier has an available offer for this package between these locations.',
  ABOVE_LIMIT: 'Each matching offer costs more than `maxShipmentCostCents` or has an unknown cost.',
  COURIER_UNAVAILABLE: 'The chosen courier has no available offer.',
});

const NoOffer = builder.objectRef<NoOfferSource>('NoOffer').implement({
  description:
    'No available offer matches the input, and nothing was shipped. `message` gives the reason and the available offers.',
  interfaces: [UserError],
  fields: (t) => ({
    reason: t.expose('reason', { type: noOfferReason.ref, description: 'The reason as a code.' }),
    quote: t.field(createdQuote('The requested quote, with one offer or rejection per courier.')),
  }),
});

const existingShipment = 'The existing shipment of the order or quote, if `reason` is `ALREADY_SHIPPED`.';
builder.objectField(Conflict, 'shipment', (t) =>
  t.field(relation(Shipment, 'shipments', existingShipment, ({ shipment }) => shipment)),
);

const ShipOrderResult = resultUnion('ShipOrderResult', [ShipOrderSuccess, NoOffer, NotFound, WriteFailed]);

const ship = defineMutation({
  rules: shipOrderRules,
  // No `target`: the workflow reads the order and the origin first, so a 404 to a POST is about something else.
  // Fields of the quote and shipment bodies. Most of them come from the order.
  restToInputPaths: {
    destination: 'order',
    cashOnDeliveryRequestCents: 'order',
    recipient: 'order',
    quote: 'order',
    courier: 'offer',
  },
  async run({ idempotencyKey, ...request }, { writes }): Promise<ShipOrderSuccessSource | NoOfferSource> {
    const shipped = await writes.shipOrder(request, idempotencyKey);
    return 'noOffer' in shipped
      ? { __typename: 'NoOffer', ...shipped.noOffer, quote: shipped.quote }
      : { __typename: 'ShipOrderSuccess', ...shipped };
  },
  adviceOnUnknownOutcome({ order, idempotencyKey: key }) {
    const check = `check whether order(id: ${JSON.stringify(order)}) has a shipment`;
    return key === undefined || key === null
      ? `Before you ship the order again, ${check}. With an idempotencyKey, Waybill itself looks for the shipment on a retry.`
      : `Retry with the same idempotencyKey: Waybill then looks for the shipment before it creates one. Or ${check}.`;
  },
});

builder.mutationFields((t) => ({
  shipOrder: t.field({
    type: ShipOrderResult,
    nullable: true,
    description:
      'Ships an order at most once: requests a quote, accepts an offer, and creates a paid shipment. Costs ' +
      '`GET /v1/orders/{id}`, `GET /v1/origins`, `POST /v1/quotes` and `POST /v1/shipments`. After a lost ' +
      'response, a retry first looks for the shipment, with `GET /v1/shipments/{id}` or `GET /v1/shipments`.',
    args: inputArg(ShipOrderInput, 'The order, its package, its origin and the offer to accept.'),
    resolve: ship,
  }),
  shipOrders: t.field({
    type: [ShipOrderResult],
    nullable: true,
    description:
      'Ships up to 100 orders. Returns one result per input, in the sequence of `inputs`. If every result would be a ' +
      '`WriteFailed` with the same `code`, the field is null instead, with that error. Costs `GET ' +
      '/v1/origins`, and for each order `GET /v1/orders/{id}`, `POST /v1/quotes` and `POST /v1/shipments`.',
    args: inputsArg(ShipOrderInput, 'The orders to ship, at most 100.'),
    resolve: (_root, { inputs }, context, info) =>
      runBatch(inputs, ({ order }) => bareIdentifier(order), ship, context, info),
  }),
}));

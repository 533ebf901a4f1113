import type { ShipmentJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { Money, money, shipmentCurrency } from '../fields/money.ts';
import { openEnum } from '../fields/open-enum.ts';
import { relatedRecord } from '../fields/related-record.ts';
import { Order } from '../orders/order.ts';
import { Recipient } from '../orders/recipient.ts';
import { Origin } from '../places/origin.ts';
import { Courier, courierNamed } from '../quotes/courier.ts';
import { Quote } from '../quotes/quote.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { hasLabel, Label } from './label.ts';

const shipmentStatus = openEnum('ShipmentStatus', 'How far a shipment has come.', {
  GENERATING_LABEL: 'The label is being made.',
  LABEL_GENERATED: 'The label can be printed.',
  SCHEDULED_PICKUP: 'The courier is to collect it.',
  IN_PROGRESS: 'The courier has it.',
  AT_ORIGIN_TERMINAL: "At the courier's terminal near the origin.",
  AT_DESTINATION_TERMINAL: "At the courier's terminal near the destination.",
  READY_FOR_PICKUP: "Waits for the recipient at the courier's office.",
  OUT_FOR_DELIVERY: 'On the last way to the recipient.',
  DELIVERED: 'Received.',
  WITH_ERROR: 'Something went wrong; the courier has to be asked.',
  CANCELLATION_REQUESTED: 'Asked to be called off.',
  CANCELLED: 'Called off.',
  RETURN: 'On its way back, or returned.',
});

export const Shipment = builder.objectRef<ShipmentJson>('Shipment').implement({
  description: 'A package on its way with a courier.',
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.expose('createTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was created.',
    }),
    updateTime: t.expose('updateTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last changed.',
    }),
    status: t.field({
      type: shipmentStatus.ref,
      description: 'How far the shipment has come.',
      resolve: (shipment) => shipmentStatus.recognize(shipment.status),
    }),
    order: t.field({
      type: Order,
      nullable: true,
      description:
        'The order that is shipped, found through the quote. Costs `GET /v1/quotes/{id}`, and `GET /v1/orders/{id}` ' +
        'unless only its id is selected.',
      resolve: async (shipment, _args, { loaders }, info) => {
        const quote = await relatedRecord('quotes', shipment.quote, loaders);
        return relatedRecord('orders', quote?.order, loaders, info);
      },
    }),
    quote: t.field({
      type: Quote,
      nullable: true,
      description:
        'The quote it was created from. Costs `GET /v1/quotes/{id}` unless only its id is selected.',
      resolve: (shipment, _args, { loaders }, info) => relatedRecord('quotes', shipment.quote, loaders, info),
    }),
    courier: t.field({
      type: Courier,
      nullable: true,
      description: 'Who carries it.',
      resolve: ({ courier }) => (courier ? courierNamed(courier) : null),
    }),
    origin: t.field({
      type: Origin,
      nullable: true,
      description:
        'Where the courier collects it. Costs `GET /v1/origins`, once for all origins, unless only its id is selected.',
      resolve: (shipment, _args, { loaders }, info) =>
        relatedRecord('origins', shipment.origin, loaders, info),
    }),
    recipient: t.expose('recipient', { type: Recipient, nullable: true, description: 'Who receives it.' }),
    requiresPickup: t.exposeBoolean('requiresPickup', {
      nullable: true,
      description: 'Whether the courier collects it, or it is brought to the courier.',
    }),
    shipmentCost: t.field({
      type: Money,
      nullable: true,
      description: 'What the transport costs.',
      resolve: (shipment) => money(shipment.shipmentCostCents, shipmentCurrency),
    }),
    cashOnDeliveryCost: t.field({
      type: Money,
      nullable: true,
      description: 'What collecting the cash on delivery costs.',
      resolve: (shipment) => money(shipment.cashOnDeliveryCostCents, shipmentCurrency),
    }),
    totalCost: t.field({
      type: Money,
      nullable: true,
      description: 'What it costs in all, with every fee.',
      resolve: (shipment) => money(shipment.totalCostCents, shipmentCurrency),
    }),
    label: t.field({
      type: Label,
      nullable: true,
      description: 'The label, or null until it exists.',
      resolve: (shipment) => (hasLabel(shipment) ? shipment : null),
    }),
  }),
});

const shipmentList = defineList(Shipment, 'shipments');

builder.objectField(Order, 'shipment', (t) =>
  t.field({
    type: Shipment,
    nullable: true,
    description:
      'The shipment that carries the order, or null until there is one. Costs `GET /v1/shipments/{id}` unless only ' +
      'its id is selected; for many orders, a page of `GET /v1/shipments` where that is expected to answer them.',
    resolve: (order, _args, { loaders }, info) => relatedRecord('shipments', order.shipment, loaders, info),
  }),
);

defineRecordQuery('shipment', Shipment, 'shipments', 'Costs `GET /v1/shipments/{id}`.');

builder.queryFields((t) => ({
  shipments: t.field({
    type: shipmentList.type,
    nullable: true,
    description:
      'Shipments, newest first. Costs `GET /v1/shipments`. The REST service decides the order, and some begin with the ' +
      'oldest.',
    args: shipmentList.args,
    resolve: (_root, args, { loaders }) => shipmentList.read(loaders.shipmentPage, args, {}),
  }),
}));

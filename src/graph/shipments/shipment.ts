import { resourceName } from '../../rest/resource-name.ts';
import type { ShipmentJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import {
  hasCondition,
  needsScan,
  statusArgs,
  statusFilter,
  timeArgs,
  timeRanges,
} from '../fields/list-filters.ts';
import { shippingCost } from '../fields/money.ts';
import { optionalValue } from '../fields/optional-value.ts';
import { relatedRecord, relation } from '../fields/related-record.ts';
import { shipmentStatus } from '../fields/shipment-status.ts';
import { Order } from '../orders/order.ts';
import { Recipient } from '../orders/recipient.ts';
import { Origin } from '../places/origin.ts';
import { Courier, courierNamed } from '../quotes/courier.ts';
import { Quote } from '../quotes/quote.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { Label } from './label.ts';

export const Shipment = builder.objectRef<ShipmentJson>('Shipment').implement({
  description: 'A package that a courier delivers.',
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.field(optionalValue('DateTime', 'The time of creation.', (record) => record.createTime)),
    updateTime: t.field(
      optionalValue('DateTime', 'The time of the last change.', (record) => record.updateTime),
    ),
    status: t.field(shipmentStatus.field('The status of the shipment.', (shipment) => shipment.status)),
    order: t.field({
      type: Order,
      nullable: true,
      description:
        'The order of the shipment, found through the quote. Costs `GET /v1/quotes/{id}`, and `GET ' +
        '/v1/orders/{id}` if more than `id` is selected.',
      resolve: async (shipment, _args, { loaders }, info) => {
        const quote = await relatedRecord('quotes', shipment.quote, loaders);
        return relatedRecord('orders', quote?.order, loaders, info);
      },
    }),
    quote: t.field(relation(Quote, 'quotes', 'The quote of the shipment.', (shipment) => shipment.quote)),
    courier: t.field({
      type: Courier,
      nullable: true,
      description: 'The courier of the shipment.',
      resolve: ({ courier }) => (courier ? courierNamed(courier) : null),
    }),
    origin: t.field(relation(Origin, 'origins', 'The origin of the package.', (shipment) => shipment.origin)),
    recipient: t.expose('recipient', {
      type: Recipient,
      nullable: true,
      description: 'The person who receives the package.',
    }),
    requiresPickup: t.exposeBoolean('requiresPickup', {
      nullable: true,
      description:
        'Whether the courier collects the package. Otherwise the merchant brings it to the courier.',
    }),
    shipmentCost: t.field(
      shippingCost('The cost of the transport.', (shipment) => shipment.shipmentCostCents),
    ),
    cashOnDeliveryCost: t.field(
      shippingCost(
        'The fee for collecting cash on delivery.',
        (shipment) => shipment.cashOnDeliveryCostCents,
      ),
    ),
    totalCost: t.field(shippingCost('The total cost with all fees.', (shipment) => shipment.totalCostCents)),
    label: t.field({
      type: Label,
      nullable: true,
      description: 'The label, or null if it does not exist yet.',
      resolve: (shipment) => (shipment.label ? shipment : null),
    }),
  }),
});

const shipmentList = defineList(Shipment, 'shipments');

builder.objectField(Order, 'shipment', (t) =>
  t.field({
    type: Shipment,
    nullable: true,
    description:
      'The shipment of the order, or null if the order is not shipped yet. Costs `GET /v1/shipments/{id}`, or a ' +
      'page of `GET /v1/shipments` for many orders. Costs no call if only `id` is selected.',
    resolve: (order, _args, { loaders }, info) => relatedRecord('shipments', order.shipment, loaders, info),
  }),
);

defineRecordQuery('shipment', Shipment, 'shipments');

builder.queryFields((t) => ({
  shipments: t.field({
    ...shipmentList.field,
    description:
      "The merchant's shipments as the REST service sorts them, usually newest first. Costs `GET /v1/shipments`. " +
      'A filter costs up to 20 pages of this list.',
    args: {
      ...shipmentList.field.args,
      ...statusArgs('shipments', shipmentStatus.ref, needsScan),
      ...timeArgs,
      courier: t.arg.id({
        description:
          'The courier of the shipments to return, `couriers/<code>` or the code. By default, all couriers.',
        extensions: needsScan,
      }),
    },
    resolve: (_root, { status, courier, ...args }, { loaders }) => {
      const name = typeof courier === 'string' ? resourceName('couriers', courier) : undefined;
      const filter = { statuses: statusFilter(status), ...timeRanges(args), courier: name };
      if (!hasCondition(filter)) return shipmentList.read(loaders.shipmentPage, args, {});
      return shipmentList.readFiltered(loaders.shipmentScans, args, {}, filter);
    },
  }),
}));

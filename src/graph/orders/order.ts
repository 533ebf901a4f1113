import { readJoinedSlice } from '../../loaders/scan/joined-slice.ts';
import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import type { OrderJson, RecipientJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import {
  hasCondition,
  needsScan,
  searchText,
  statusArgs,
  statusFilter,
  timeArgs,
  timeRanges,
} from '../fields/list-filters.ts';
import { Money, money } from '../fields/money.ts';
import { optionalValue } from '../fields/optional-value.ts';
import { selectsMoreThanIdAt } from '../fields/selection.ts';
import { shipmentStatus } from '../fields/shipment-status.ts';
import { defineStatusCounts } from '../fields/status-counts.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { CustomerBehavior, customerReliability } from './customer.ts';
import { orderStatus } from './order-status.ts';
import { Recipient } from './recipient.ts';

export const Order = builder.objectRef<OrderJson>('Order').implement({
  description: "A customer's order with its recipient.",
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.expose('createTime', { type: 'DateTime', description: 'The time of creation.' }),
    updateTime: t.expose('updateTime', { type: 'DateTime', description: 'The time of the last change.' }),
    status: t.field(orderStatus.field('The status of the order.', (order) => order.status)),
    recipient: t.expose('recipient', { type: Recipient, description: 'The person who receives the order.' }),
    contentDescription: t.exposeString('contentDescription', {
      description: 'The contents of the package, 3 to 128 characters.',
    }),
    notes: t.exposeString('notes', { description: 'The notes on the order, 3 to 2048 characters.' }),
    sellingPrice: t.field({
      type: Money,
      description: 'The price that the customer pays for the order. Used for reports only.',
      resolve: (order, _args, { currency }) => money(order.sellingPriceCents, currency),
    }),
    cashOnDelivery: t.field({
      type: Money,
      description: 'The amount that the courier collects on delivery, or zero.',
      resolve: (order, _args, { currency }) => money(order.cashOnDeliveryRequestCents, currency),
    }),
    customerReliability: t.field(
      customerReliability.field('The reliability of this customer.', (order) => order.customerReliability),
    ),
    customerBehavior: t.expose('customerBehavior', {
      type: CustomerBehavior,
      description: "The outcomes of this customer's earlier shipments.",
    }),
    referenceId: t.exposeString('referenceId', {
      nullable: true,
      description: "The id of the order in the merchant's e-commerce system.",
    }),
    referenceGid: t.exposeString('referenceGid', {
      nullable: true,
      description:
        "The globally unique id of the order in the merchant's e-commerce system. Mutations cannot set this id.",
    }),
    referenceUrl: t.field(
      optionalValue(
        'URL',
        "The URL of the order in the merchant's e-commerce system.",
        (order) => order.referenceUrl,
      ),
    ),
    paymentMethods: t.exposeStringList('paymentMethods', {
      nullable: true,
      description: 'The payment methods of the customer.',
    }),
    fulfiller: t.exposeString('fulfiller', { description: 'The name of the company that ships the order.' }),
  }),
});

const orderList = defineList(Order, 'orders');
defineStatusCounts('Order', 'orders', orderStatus);
const statusArg = statusArgs('orders', orderStatus.ref);

builder.objectFields(Recipient, (t) => ({
  orders: t.field({
    ...orderList.field,
    description:
      'The orders whose recipient has this phone number. Costs a search with `GET /v1/orders` for each distinct ' +
      'phone number.',
    args: { ...orderList.field.args, ...statusArg },
    resolve: (recipient, { status, ...args }, { loaders }) => {
      const phoneNumber = requirePhoneNumber(recipient);
      return orderList.read(
        loaders.orderPage,
        args,
        { search: phoneNumber, status: statusFilter(status) },
        // The search of REST also matches reference IDs and names ("List query parameters").
        (order) => order.recipient?.phoneNumber === phoneNumber,
      );
    },
  }),
}));

/** @throws InvalidResponseError if REST sent no phone number: a search without one would read all orders. */
function requirePhoneNumber({ phoneNumber }: RecipientJson): string {
  if (typeof phoneNumber === 'string' && phoneNumber !== '') return phoneNumber;
  throw new InvalidResponseError('The REST service sent a recipient without a valid phone number');
}

defineRecordQuery('order', Order, 'orders');

builder.queryFields((t) => ({
  orderByReference: t.field({
    type: Order,
    nullable: true,
    description:
      'The newest order with this `referenceId`, or null if none exists. Costs a search with `GET /v1/orders`.',
    args: {
      referenceId: t.arg.string({
        required: true,
        description: "The exact id of the order in the merchant's e-commerce system. At most 256 characters.",
      }),
    },
    resolve: (_root, { referenceId }, { loaders }) => {
      if (referenceId === '') throw new BadInputError('"referenceId" must not be empty.');
      return loaders.orderByReference.load(searchText('referenceId', referenceId));
    },
  }),
  orders: t.field({
    ...orderList.field,
    description:
      "The merchant's orders as the REST service sorts them, usually newest first. Costs `GET /v1/orders`. A " +
      'filter by time or by shipment costs up to 20 pages of REST lists.',
    args: {
      ...orderList.field.args,
      ...statusArg,
      search: t.arg.string({
        description:
          'The approximate name of a recipient, an exact phone number, or an exact `referenceId`. At most 256 ' +
          'characters.',
      }),
      ...timeArgs,
      hasShipment: t.arg.boolean({
        description:
          'Whether the orders to return have a shipment. By default, orders with and without a shipment.',
        extensions: needsScan,
      }),
      shipmentStatus: t.arg({
        type: [shipmentStatus.ref],
        description:
          'Only orders whose shipment has one of these statuses. By default, all orders, even those without a shipment. Also ' +
          'costs pages of `GET /v1/shipments`, and `GET /v1/shipments/{id}` for a few shipments. An order whose shipment ' +
          'cannot be read is null, with an error.',
        extensions: needsScan,
      }),
    },
    resolve: (_root, { status, search, hasShipment, shipmentStatus, ...args }, { loaders }, info) => {
      const query = { search: searchText('search', search) || undefined, status: statusFilter(status) };
      const filter = { ...timeRanges(args), hasShipment: hasShipment ?? undefined };
      const shipmentStatuses = statusFilter(shipmentStatus, 'shipmentStatus');
      if (shipmentStatuses !== undefined) {
        if (hasShipment === false)
          throw new BadInputError('"shipmentStatus" must be empty or omitted if "hasShipment" is false.');
        const joined = { ...filter, shipmentStatuses };
        return orderList.readFiltered(
          loaders.orderScans,
          args,
          query,
          joined,
          (scan, _filter, first, shipmentPage) => {
            // The filter reads the shipments anyway. Those that the operation selects are kept, so they cost no call.
            const keptStatuses = selectsShipments(info) ? shipmentStatuses : [];
            loaders.shipmentJoin.start(shipmentPage, keptStatuses);
            return readJoinedSlice(scan, joined, first, loaders.shipmentJoin);
          },
        );
      }
      if (hasCondition(filter)) return orderList.readFiltered(loaders.orderScans, args, query, filter);
      const pages = selectsShipments(info) ? loaders.orderPageWithShipments : loaders.orderPage;
      return orderList.read(pages, args, query);
    },
  }),
}));

/** Whether the operation selects more than the ids of the shipments of a page of orders. */
const selectsShipments = selectsMoreThanIdAt(['nodes', 'shipment'], ['edges', 'node', 'shipment']);

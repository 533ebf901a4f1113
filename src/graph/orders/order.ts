import { maxPageSize } from '../../loaders/loaders.ts';
import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import { isNameOf, resourceName } from '../../rest/resource-name.ts';
import type { OrderJson, RecipientJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { Money, money } from '../fields/money.ts';
import { selectsMoreThanIdAt } from '../fields/related-record.ts';
import { connect, connectionArgs, connectionOf } from '../relay/connection.ts';
import { Node, registerNode } from '../relay/node.ts';
import { searchText } from '../relay/search-text.ts';
import { CustomerBehavior, customerReliability } from './customer.ts';
import { orderStatus, statusFilter } from './order-status.ts';
import { Recipient } from './recipient.ts';

export const Order = builder.objectRef<OrderJson>('Order').implement({
  description: 'What a customer ordered and where it goes.',
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.expose('createTime', { type: 'DateTime', description: 'When it was recorded.' }),
    updateTime: t.expose('updateTime', { type: 'DateTime', description: 'When it last changed.' }),
    status: t.field({
      type: orderStatus.ref,
      description: 'How far the order has come.',
      resolve: (order) => orderStatus.recognize(order.status),
    }),
    recipient: t.expose('recipient', { type: Recipient, description: 'Who receives the order.' }),
    contentDescription: t.exposeString('contentDescription', {
      description: 'What is in the package, in 3 to 128 characters.',
    }),
    notes: t.exposeString('notes', { description: 'Notes to the order, 3 to 2048 characters.' }),
    sellingPrice: t.field({
      type: Money,
      description: 'What the customer pays for the order; for reporting only.',
      resolve: (order, _args, { currency }) => money(order.sellingPriceCents, currency),
    }),
    cashOnDelivery: t.field({
      type: Money,
      description: 'What the courier collects on delivery; zero where nothing is due.',
      resolve: (order, _args, { currency }) => money(order.cashOnDeliveryRequestCents, currency),
    }),
    customerReliability: t.field({
      type: customerReliability.ref,
      description: 'How far this customer can be relied on.',
      resolve: (order) => customerReliability.recognize(order.customerReliability),
    }),
    customerBehavior: t.expose('customerBehavior', {
      type: CustomerBehavior,
      description: "What became of this customer's shipments so far.",
    }),
    referenceId: t.exposeString('referenceId', {
      nullable: true,
      description: 'The id of the order in the e-commerce system that it came from.',
    }),
    referenceGid: t.exposeString('referenceGid', {
      nullable: true,
      description: 'The global id of the order in that system.',
    }),
    referenceUrl: t.expose('referenceUrl', {
      type: 'URL',
      nullable: true,
      description: 'The page of the order in that system.',
    }),
    paymentMethods: t.exposeStringList('paymentMethods', {
      nullable: true,
      description: 'How the customer pays.',
    }),
    fulfiller: t.exposeString('fulfiller', { description: 'Who ships the order.' }),
  }),
});

const OrderConnection = connectionOf(Order, 'orders');

registerNode({
  typename: 'Order',
  owns: (id) => isNameOf('orders', id),
  load: (id, { orderById }) => orderById.load(id),
});

builder.objectFields(Recipient, (t) => ({
  orders: t.field({
    type: OrderConnection,
    nullable: true,
    description:
      'The orders of this phone number. Costs a searched `GET /v1/orders` for each distinct number.',
    args: {
      ...connectionArgs(maxPageSize.orders),
      status: t.arg({ type: [orderStatus.ref], description: 'Only orders with one of these statuses.' }),
    },
    resolve: (recipient, { status, ...args }, { loaders }) => {
      const phoneNumber = phoneNumberOf(recipient);
      return connect({
        // A name of its own: this list drops rows of the search, so cursors of the two lists differ.
        list: 'recipient.orders',
        pages: loaders.orderPage,
        query: { search: phoneNumber, status: statusFilter(status) },
        args,
        maximum: maxPageSize.orders,
        // The search of REST also matches reference IDs and names ("List query parameters").
        isInList: (order) => order.recipient?.phoneNumber === phoneNumber,
      });
    },
  }),
}));

/** @throws InvalidResponseError if REST sent no phone number: a search without one would read all orders. */
function phoneNumberOf({ phoneNumber }: RecipientJson): string {
  if (typeof phoneNumber === 'string' && phoneNumber !== '') return phoneNumber;
  throw new InvalidResponseError('Expected a phone number of a recipient from REST');
}

builder.queryFields((t) => ({
  order: t.field({
    type: Order,
    nullable: true,
    description: 'One order, or null where there is none. Costs `GET /v1/orders/{id}`.',
    args: { id: t.arg.id({ required: true, description: '`orders/<identifier>` or the bare identifier.' }) },
    resolve: (_root, { id }, { loaders }) => loaders.orderById.load(resourceName('orders', id)),
  }),
  orderByReference: t.field({
    type: Order,
    nullable: true,
    description:
      'The order with this reference that was recorded last, or null where there is none. Costs a searched `GET /v1/orders`.',
    args: {
      referenceId: t.arg.string({
        required: true,
        description:
          'The id of the order in the e-commerce system, exactly as it is there; at most 256 characters.',
      }),
    },
    resolve: (_root, { referenceId }, { loaders }) => {
      if (referenceId === '')
        throw new BadInputError('Expected "referenceId" to be a reference, but it is empty.');
      return loaders.orderByReference.load(searchText('referenceId', referenceId));
    },
  }),
  orders: t.field({
    type: OrderConnection,
    nullable: true,
    description:
      'Orders, newest first. Costs `GET /v1/orders`. The REST service decides the order, and some begin with the oldest.',
    args: {
      ...connectionArgs(maxPageSize.orders),
      status: t.arg({ type: [orderStatus.ref], description: 'Only orders with one of these statuses.' }),
      search: t.arg.string({
        description:
          'Finds names of recipients, also misspelt, and exact phone numbers and references; at most 256 characters.',
      }),
    },
    resolve: (_root, { status, search, ...args }, { loaders }, info) =>
      connect({
        list: 'orders',
        pages: selectsShipments(info) ? loaders.orderPageWithShipments : loaders.orderPage,
        query: { search: searchText('search', search) || undefined, status: statusFilter(status) },
        args,
        maximum: maxPageSize.orders,
      }),
  }),
}));

const selectsShipments = selectsMoreThanIdAt(['nodes', 'shipment'], ['edges', 'node', 'shipment']);

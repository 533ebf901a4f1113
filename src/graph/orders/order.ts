import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import type { OrderJson, RecipientJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { Money, money } from '../fields/money.ts';
import { selectsMoreThanIdAt } from '../fields/related-record.ts';
import { searchText } from '../fields/search-text.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
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

const orderList = defineList(Order, 'orders');

builder.objectFields(Recipient, (t) => ({
  orders: t.field({
    type: orderList.type,
    nullable: true,
    description:
      'The orders of this phone number. Costs a searched `GET /v1/orders` for each distinct number.',
    args: {
      ...orderList.args,
      status: t.arg({ type: [orderStatus.ref], description: 'Only orders with one of these statuses.' }),
    },
    resolve: (recipient, { status, ...args }, { loaders }) => {
      const phoneNumber = phoneNumberOf(recipient);
      return orderList.read(
        loaders.orderPage,
        args,
        { search: phoneNumber, status: statusFilter(status) },
        {
          cursorList: 'recipient.orders',
          // The search of REST also matches reference IDs and names ("List query parameters").
          includes: (order) => order.recipient?.phoneNumber === phoneNumber,
        },
      );
    },
  }),
}));

/** @throws InvalidResponseError if REST sent no phone number: a search without one would read all orders. */
function phoneNumberOf({ phoneNumber }: RecipientJson): string {
  if (typeof phoneNumber === 'string' && phoneNumber !== '') return phoneNumber;
  throw new InvalidResponseError('Expected a phone number of a recipient from REST');
}

defineRecordQuery('order', Order, 'orders', 'Costs `GET /v1/orders/{id}`.');

builder.queryFields((t) => ({
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
    type: orderList.type,
    nullable: true,
    description:
      'Orders, newest first. Costs `GET /v1/orders`. The REST service decides the order, and some begin with the oldest.',
    args: {
      ...orderList.args,
      status: t.arg({ type: [orderStatus.ref], description: 'Only orders with one of these statuses.' }),
      search: t.arg.string({
        description:
          'Finds names of recipients, also misspelt, and exact phone numbers and references; at most 256 characters.',
      }),
    },
    resolve: (_root, { status, search, ...args }, { loaders }, info) =>
      orderList.read(selectsShipments(info) ? loaders.orderPageWithShipments : loaders.orderPage, args, {
        search: searchText('search', search) || undefined,
        status: statusFilter(status),
      }),
  }),
}));

const selectsShipments = selectsMoreThanIdAt(['nodes', 'shipment'], ['edges', 'node', 'shipment']);

import SchemaBuilder from '@pothos/core';

const builder = new SchemaBuilder({});

for (const name of ['Cents', 'DateTime', 'URL'])
  builder.scalarType(name, { serialize: (value) => value, parseValue: (value) => value });

const OrderStatus = builder.enumType('OrderStatus', {
  values: ['NEW', 'CONFIRMED', 'READY', 'IN_PROGRESS', 'CANCELLED', 'DELIVERED', 'RETURN'],
});
const CustomerReliability = builder.enumType('CustomerReliability', {
  values: ['RELIABLE', 'MODERATE', 'UNRELIABLE', 'NO_ORDERS'],
});
const ShipmentStatus = builder.enumType('ShipmentStatus', {
  values: [
    'GENERATING_LABEL',
    'LABEL_GENERATED',
    'SCHEDULED_PICKUP',
    'IN_PROGRESS',
    'AT_ORIGIN_TERMINAL',
    'AT_DESTINATION_TERMINAL',
    'READY_FOR_PICKUP',
    'OUT_FOR_DELIVERY',
    'DELIVERED',
    'WITH_ERROR',
    'CANCELLATION_REQUESTED',
    'CANCELLED',
    'RETURN',
  ],
});

const cop = (cents) => (cents === undefined ? null : { cents, currency: 'COP' });
const named = (t) => t.id({ nullable: false, resolve: ({ name }) => name });

const Money = builder.objectRef('Money').implement({
  fields: (t) => ({
    cents: t.expose('cents', { type: 'Cents', nullable: false }),
    currency: t.exposeString('currency', { nullable: false }),
  }),
});

const Address = builder.objectRef('Address').implement({
  fields: (t) => ({
    locality: t.exposeString('locality', { nullable: false }),
    addressLines: t.exposeStringList('addressLines', { nullable: false }),
  }),
});

const Recipient = builder.objectRef('Recipient').implement({
  fields: (t) => ({
    firstName: t.exposeString('firstName', { nullable: false }),
    lastName: t.exposeString('lastName', { nullable: false }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: false }),
    address: t.expose('address', { type: Address, nullable: false }),
  }),
});

const Courier = builder.objectRef('Courier').implement({
  fields: (t) => ({ id: t.id({ nullable: false, resolve: (name) => name }) }),
});

const Label = builder.objectRef('Label').implement({
  fields: (t) => ({
    id: t.id({ nullable: false, resolve: ({ label }) => label }),
    url: t.expose('labelUrl', { type: 'URL' }),
  }),
});

const Origin = builder.objectRef('Origin').implement({
  fields: (t) => ({ id: named(t), address: t.expose('address', { type: Address }) }),
});

const Offer = builder.objectRef('Offer').implement({
  fields: (t) => ({
    courier: t.field({ type: Courier, nullable: false, resolve: (offer) => offer.courier }),
    status: t.exposeString('status', { nullable: false }),
    shipmentCost: t.field({ type: Money, resolve: (offer) => cop(offer.shipmentCostCents) }),
    estimatedDeliveryOperatingDays: t.exposeFloat('estimatedDeliveryOperatingDays'),
  }),
});

const Quote = builder.objectRef('Quote').implement({
  fields: (t) => ({ id: named(t), offers: t.expose('offers', { type: [Offer], nullable: false }) }),
});

const Shipment = builder.objectRef('Shipment').implement({
  fields: (t) => ({
    id: named(t),
    status: t.expose('status', { type: ShipmentStatus, nullable: false }),
    courier: t.field({ type: Courier, resolve: ({ courier }) => courier }),
    totalCost: t.field({ type: Money, resolve: (shipment) => cop(shipment.totalCostCents) }),
    label: t.field({ type: Label, resolve: (shipment) => (shipment.label ? shipment : null) }),
    origin: t.field({
      type: Origin,
      resolve: (shipment, _args, { origin }) => shipment.origin && origin.load(shipment.origin),
    }),
    quote: t.field({
      type: Quote,
      resolve: (shipment, _args, { quote }) => shipment.quote && quote.load(shipment.quote),
    }),
  }),
});

const Order = builder.objectRef('Order').implement({
  fields: (t) => ({
    id: named(t),
    status: t.expose('status', { type: OrderStatus, nullable: false }),
    createTime: t.expose('createTime', { type: 'DateTime', nullable: false }),
    updateTime: t.expose('updateTime', { type: 'DateTime', nullable: false }),
    contentDescription: t.exposeString('contentDescription', { nullable: false }),
    notes: t.exposeString('notes', { nullable: false }),
    referenceId: t.exposeString('referenceId'),
    fulfiller: t.exposeString('fulfiller', { nullable: false }),
    customerReliability: t.expose('customerReliability', { type: CustomerReliability, nullable: false }),
    sellingPrice: t.field({ type: Money, nullable: false, resolve: (order) => cop(order.sellingPriceCents) }),
    cashOnDelivery: t.field({
      type: Money,
      nullable: false,
      resolve: (order) => cop(order.cashOnDeliveryRequestCents),
    }),
    paymentMethods: t.exposeStringList('paymentMethods'),
    recipient: t.expose('recipient', { type: Recipient, nullable: false }),
    shipment: t.field({
      type: Shipment,
      resolve: (order, _args, { shipment }) => order.shipment && shipment.load(order.shipment),
    }),
  }),
});

const OrderConnection = builder.objectRef('OrderConnection').implement({
  fields: (t) => ({
    nodes: t.field({
      type: t.listRef(Order, { nullable: true }),
      nullable: false,
      resolve: ({ orders }) => orders,
    }),
  }),
});

builder.queryType({
  fields: (t) => ({
    order: t.field({
      type: Order,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_root, { id }, { order }) => order.load(`orders/${encodeURIComponent(id)}`),
    }),
    orders: t.field({
      type: OrderConnection,
      nullable: false,
      args: { first: t.arg.int({ defaultValue: 20 }) },
      resolve: (_root, { first }, { orders }) => orders(first),
    }),
  }),
});

export const schema = builder.toSchema();

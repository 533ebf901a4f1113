import { flag, list, map, number, object, oneOf, optional, type Shape, type ShapeOf, text } from './shape.ts';
import type {
  AddressJson,
  ChannelJson,
  CustomerBehaviorJson,
  LocationJson,
  MessageJson,
  OfferJson,
  OrderJson,
  OrganizationJson,
  OriginJson,
  PackageDimensionsJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  SentTemplateJson,
  ShipmentJson,
  TemplateJson,
  TemplateTextJson,
} from './types.ts';

const place = { regionCode: text, administrativeArea: text, locality: text } satisfies ShapeOf<
  LocationJson['address']
>;
const address = { ...place, addressLines: list(text), organization: text } satisfies ShapeOf<AddressJson>;

const recipientOfShipment = {
  firstName: text,
  lastName: text,
  documentType: optional(oneOf('CC', 'CE', 'NI', 'TI')),
  document: optional(text),
  email: text,
  phoneNumber: text,
  address: object(address),
} satisfies ShapeOf<Omit<RecipientJson, 'location'>>;
const recipientOfOrder = { ...recipientOfShipment, location: text };

const reliability = oneOf('RELIABLE', 'MODERATE', 'UNRELIABLE', 'NO_ORDERS');
const templateText = {
  text,
  parameters: optional(list(object({ name: text, example: optional(text) }))),
} satisfies ShapeOf<TemplateTextJson>;
const times = { createTime: optional(text), updateTime: optional(text) };

/** The records that REST answers, by the name of their list ("Resources and their fields" of its interface). */
export const shapes = {
  orders: {
    name: text,
    createTime: text,
    updateTime: text,
    status: oneOf('NEW', 'CONFIRMED', 'READY', 'IN_PROGRESS', 'CANCELLED', 'DELIVERED', 'RETURN'),
    recipient: object(recipientOfOrder),
    contentDescription: text,
    notes: text,
    sellingPriceCents: number,
    cashOnDeliveryRequestCents: number,
    shipment: optional(text),
    customerReliability: reliability,
    customerBehavior: object({
      totalShipments: number,
      deliveredShipments: number,
      returnedShipments: number,
      reliability,
    } satisfies ShapeOf<CustomerBehaviorJson>),
    referenceId: optional(text),
    referenceGid: optional(text),
    referenceUrl: optional(text),
    paymentMethods: optional(list(text)),
    fulfiller: text,
  } satisfies ShapeOf<OrderJson>,
  shipments: {
    name: text,
    ...times,
    quote: optional(text),
    courier: optional(text),
    origin: optional(text),
    recipient: optional(object(recipientOfShipment)),
    requiresPickup: optional(flag),
    status: oneOf(
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
    ),
    shipmentCostCents: optional(number),
    cashOnDeliveryCostCents: optional(number),
    totalCostCents: optional(number),
    label: optional(text),
    labelUrl: optional(text),
  } satisfies ShapeOf<ShipmentJson>,
  quotes: {
    name: text,
    ...times,
    origin: optional(text),
    destination: optional(text),
    package: optional(
      object({
        declaredValueCents: optional(number),
        dimensions: optional(
          object({
            lengthCm: number,
            widthCm: number,
            heightCm: number,
          } satisfies ShapeOf<PackageDimensionsJson>),
        ),
        weightKg: optional(number),
        contentDescription: optional(text),
      } satisfies ShapeOf<PackageJson>),
    ),
    cashOnDeliveryRequestCents: optional(number),
    order: optional(text),
    offers: list(
      object({
        courier: text,
        status: text,
        shipmentCostCents: optional(number),
        returnShipmentCostCents: optional(number),
        estimatedDeliveryOperatingDays: optional(number),
      } satisfies ShapeOf<OfferJson>),
    ),
  } satisfies ShapeOf<QuoteJson>,
  origins: {
    name: text,
    location: optional(text),
    address: optional(object(address)),
  } satisfies ShapeOf<OriginJson>,
  locations: { name: text, address: object(place) } satisfies ShapeOf<LocationJson>,
  organization: {
    name: text,
    balanceCents: number,
    creditLimitCents: number,
  } satisfies ShapeOf<OrganizationJson>,
  channels: { name: text, type: text, active: flag } satisfies ShapeOf<ChannelJson>,
  messages: {
    name: text,
    createTime: text,
    status: oneOf('SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED'),
    contentType: oneOf('TEXT', 'TEMPLATE'),
    text: optional(text),
    template: optional(
      object({
        name: text,
        language: text,
        headerParameters: optional(map),
        bodyParameters: optional(map),
      } satisfies ShapeOf<SentTemplateJson>),
    ),
  } satisfies ShapeOf<MessageJson>,
  templates: {
    name: text,
    language: text,
    category: optional(text),
    body: optional(object(templateText)),
    header: optional(object(templateText)),
    buttons: optional(list(text)),
    footer: optional(text),
  } satisfies ShapeOf<TemplateJson>,
} satisfies Readonly<Record<string, Shape>>;

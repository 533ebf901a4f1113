/**
 * The resources of "Resources and their fields". Each has a schema, for validation and OpenAPI, and a static type of
 * the same name.
 */

import { type Static, Type } from 'typebox';

/** The interface defines no characters. Not allowed: slashes, control characters, lone surrogates, `.` and `..`. */
const identifier = '(?!\\.{1,2}(?:/|$))[^/\\p{Cc}\\p{Cs}]{1,256}';

/** A resource name such as `orders/ca0001`. `collection` may have several parts, with `*` for an identifier. */
export const ResourceName = (collection: string, options: { maxLength?: number } = {}) =>
  Type.String({
    pattern: `^${collection.replaceAll('*', identifier)}/${identifier}$`,
    description: `A name such as ${collection.replaceAll('*', 'ca0001')}/ca0001.`,
    ...options,
  });

const LocationName = ResourceName('locations', { maxLength: 96 });
const DateTime = Type.String({ format: 'date-time' });

/** Whole cents. JSON numbers are exact from -(2^53 - 1) to 2^53 - 1. */
const Cents = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const CentsFromZero = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Count = Type.Integer({ minimum: 0 });

const nullable = { type: ['string', 'null'] } as const;
const NullableString = Type.Unsafe<string | null>({ ...nullable, maxLength: 128 });
const DocumentType = Type.Unsafe<'CC' | 'CE' | 'NI' | 'TI' | null>({
  ...nullable,
  enum: ['CC', 'CE', 'NI', 'TI', null],
});

const noOtherFields = { additionalProperties: false };

const ContentDescription = Type.String({ minLength: 3, maxLength: 128 });
const Notes = Type.String({ minLength: 3, maxLength: 2048 });

/** Field schemas that requests and resources share. */
export const fields = {
  identifier: Type.String({
    pattern: `^${identifier}$`,
    description: 'An identifier of 1 to 256 characters.',
  }),
  LocationName,
  Cents,
  CentsFromZero,
  NullableString,
  DocumentType,
  ContentDescription,
  Notes,
  Fulfiller: Type.Enum(['OPERATOR', 'PARTNER']),
  Email: Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', description: 'An e-mail address.', maxLength: 254 }),
  Phone: Type.String({ pattern: '^\\+?[0-9][0-9 ()-]{5,22}$', description: 'A phone number.' }),
  PersonName: Type.String({ minLength: 1, maxLength: 128 }),
};

/** "Address" in responses. */
export type Address = Static<typeof Address>;
export const Address = Type.Object(
  {
    regionCode: Type.String({ pattern: '^[A-Z]{2}$', description: 'A country code of two letters.' }),
    administrativeArea: Type.String(),
    locality: Type.String(),
    addressLines: Type.Array(Type.String()),
    organization: Type.String(),
  },
  { $id: 'Address', ...noOtherFields },
);

const person = {
  firstName: Type.String(),
  lastName: Type.String(),
  documentType: Type.Optional(DocumentType),
  document: Type.Optional(NullableString),
  email: Type.String(),
  phoneNumber: Type.String(),
  address: Address,
};

/** The "Recipient" of a shipment, which has no `location`. */
export type ShipmentRecipient = Static<typeof ShipmentRecipient>;
export const ShipmentRecipient = Type.Object(person, { $id: 'ShipmentRecipient', ...noOtherFields });

/** The "Recipient" of an order. */
export type Recipient = Static<typeof Recipient>;
export const Recipient = Type.Object(
  { ...person, location: LocationName },
  { $id: 'Recipient', ...noOtherFields },
);

/** The allowed values of `customerReliability`. */
export const Reliability = Type.Enum(['RELIABLE', 'MODERATE', 'UNRELIABLE', 'NO_ORDERS']);

/** The `customerBehavior` of an "Order". */
export type CustomerBehavior = Static<typeof CustomerBehavior>;
export const CustomerBehavior = Type.Object(
  { totalShipments: Count, deliveredShipments: Count, returnedShipments: Count, reliability: Reliability },
  { $id: 'CustomerBehavior', ...noOtherFields },
);

/** "Order status". */
export type OrderStatus = Static<typeof OrderStatus>;
export const OrderStatus = Type.Enum([
  'NEW',
  'CONFIRMED',
  'READY',
  'IN_PROGRESS',
  'CANCELLED',
  'DELIVERED',
  'RETURN',
]);

/** "Order". */
export type Order = Static<typeof Order>;
export const Order = Type.Object(
  {
    name: ResourceName('orders'),
    createTime: DateTime,
    updateTime: DateTime,
    status: OrderStatus,
    recipient: Recipient,
    contentDescription: ContentDescription,
    notes: Notes,
    sellingPriceCents: Cents,
    cashOnDeliveryRequestCents: CentsFromZero,
    shipment: Type.Optional(ResourceName('shipments')),
    customerReliability: Reliability,
    customerBehavior: CustomerBehavior,
    referenceId: Type.Optional(Type.String()),
    referenceGid: Type.Optional(Type.String()),
    referenceUrl: Type.Optional(Type.String({ format: 'uri' })),
    paymentMethods: Type.Optional(Type.Array(Type.String())),
    fulfiller: fields.Fulfiller,
  },
  { $id: 'Order', ...noOtherFields },
);

/** "Shipment status". */
export type ShipmentStatus = Static<typeof ShipmentStatus>;
export const ShipmentStatus = Type.Enum([
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
]);

/** "Shipment". */
export type Shipment = Static<typeof Shipment>;
export const Shipment = Type.Object(
  {
    name: ResourceName('shipments'),
    createTime: DateTime,
    updateTime: DateTime,
    quote: ResourceName('quotes'),
    courier: ResourceName('couriers'),
    origin: ResourceName('origins'),
    recipient: ShipmentRecipient,
    requiresPickup: Type.Boolean(),
    status: ShipmentStatus,
    shipmentCostCents: CentsFromZero,
    cashOnDeliveryCostCents: CentsFromZero,
    totalCostCents: CentsFromZero,
    label: Type.Optional(Type.String()),
    labelUrl: Type.Optional(Type.String({ format: 'uri' })),
  },
  { $id: 'Shipment', ...noOtherFields },
);

const size = Type.Number({ exclusiveMinimum: 0, maximum: 1000 });

/** The `package` of a "Quote". */
export type Package = Static<typeof Package>;
export const Package = Type.Object(
  {
    declaredValueCents: CentsFromZero,
    dimensions: Type.Object({ lengthCm: size, widthCm: size, heightCm: size }, noOtherFields),
    weightKg: size,
    contentDescription: ContentDescription,
  },
  { $id: 'Package', ...noOtherFields },
);

const quoteRequest = {
  origin: LocationName,
  destination: LocationName,
  package: Package,
  cashOnDeliveryRequestCents: Type.Optional(CentsFromZero),
  order: Type.Optional(ResourceName('orders')),
};

/** The request fields of a "Quote". */
export type QuoteRequest = Static<typeof QuoteRequest>;
export const QuoteRequest = Type.Object(quoteRequest, { $id: 'QuoteRequest', ...noOtherFields });

/** One of the `offers` of a "Quote". */
export type Offer = Static<typeof Offer>;
export const Offer = Type.Object(
  {
    courier: ResourceName('couriers'),
    status: Type.String({
      description: 'SUCCESS, or the reason why this courier does not carry the package.',
    }),
    shipmentCostCents: CentsFromZero,
    returnShipmentCostCents: CentsFromZero,
    estimatedDeliveryOperatingDays: Type.Number({ minimum: 0 }),
  },
  { $id: 'Offer', ...noOtherFields },
);

/** "Quote" in responses. */
export type Quote = Static<typeof Quote>;
export const Quote = Type.Object(
  {
    name: ResourceName('quotes'),
    createTime: DateTime,
    updateTime: DateTime,
    ...quoteRequest,
    offers: Type.Array(Offer),
  },
  { $id: 'Quote', ...noOtherFields },
);

/** "Location". */
export type Location = Static<typeof Location>;
export const Location = Type.Object(
  {
    name: LocationName,
    address: Type.Pick(Address, ['regionCode', 'administrativeArea', 'locality']),
  },
  { $id: 'Location', ...noOtherFields },
);

/** "Origin". */
export type Origin = Static<typeof Origin>;
export const Origin = Type.Object(
  { name: ResourceName('origins'), location: LocationName, address: Address },
  { $id: 'Origin', ...noOtherFields },
);

/** "Organization". */
export type Organization = Static<typeof Organization>;
export const Organization = Type.Object(
  { name: ResourceName('organization'), balanceCents: Cents, creditLimitCents: CentsFromZero },
  { $id: 'Organization', ...noOtherFields },
);

/** "Channel". */
export type Channel = Static<typeof Channel>;
export const Channel = Type.Object(
  {
    name: ResourceName('channels'),
    type: Type.Literal('chat'),
    active: Type.Boolean(),
    chatApp: Type.Object({ phoneNumber: Type.String() }, noOtherFields),
  },
  { $id: 'Channel', ...noOtherFields },
);

const TemplateText = Type.Object(
  {
    text: Type.String({ description: 'The text, with `{{<parameter>}}` placeholders.' }),
    parameters: Type.Array(Type.Object({ name: Type.String(), example: Type.String() }, noOtherFields)),
  },
  { $id: 'TemplateText', ...noOtherFields },
);

/** "Template" of a channel. */
export type Template = Static<typeof Template>;
export const Template = Type.Object(
  {
    name: Type.String(),
    language: Type.String(),
    category: Type.String(),
    body: TemplateText,
    header: Type.Optional(TemplateText),
    buttons: Type.Array(Type.String()),
    footer: Type.Optional(Type.String()),
  },
  { $id: 'Template', ...noOtherFields },
);

const Parameters = Type.Record(Type.String(), Type.String());

/** The `template` of a "Message". */
export type SentTemplate = Static<typeof SentTemplate>;
export const SentTemplate = Type.Object(
  { name: Type.String(), language: Type.String(), headerParameters: Parameters, bodyParameters: Parameters },
  { $id: 'SentTemplate', ...noOtherFields },
);

/** "Message status". */
export type MessageStatus = Static<typeof MessageStatus>;
export const MessageStatus = Type.Enum(['SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED']);

/** "Message". */
export type Message = Static<typeof Message>;
export const Message = Type.Object(
  {
    name: ResourceName('channels/*/conversations/*/messages'),
    createTime: DateTime,
    status: MessageStatus,
    contentType: Type.Enum(['TEXT', 'TEMPLATE']),
    text: Type.Optional(Type.String()),
    template: Type.Optional(SentTemplate),
  },
  { $id: 'Message', ...noOtherFields },
);

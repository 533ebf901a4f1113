/**
 * The schema of the records in REST's responses ("Resources and their fields"), and the types inferred from it.
 * Responses are not validated. The graph checks each field that it returns, and schema-drift.ts checks a sample.
 */

import * as v from 'valibot';
import { toRfc3339 } from '../base/date-time.ts';
import { isExactNumber } from '../base/exact-number.ts';
import { isJsonObject } from '../base/json-object.ts';
import { isWebUrl } from '../base/web-url.ts';

const text = v.string();

/** The message of a check on a value of the right type. The graph refuses such a value too. */
const invalid = 'invalid value';

const isTime = (value: string) => toRfc3339(value) !== undefined;
/** The checks of the scalars `DateTime` and `Cents`. */
const time = v.pipe(text, v.check(isTime, invalid));
const isCents = (value: number) => Number.isSafeInteger(value);
const cents = v.pipe(v.number(), v.check(isCents, invalid));

/** A number that fits `Int`: whole, of 32 bits. */
const count = v.pipe(
  v.number(),
  v.check((value) => value === (value | 0), invalid),
);
const number = v.pipe(v.number(), v.check(isExactNumber, invalid));

/** A field that may be absent or null. */
const optional = <Value>(schema: v.GenericSchema<unknown, Value>) => v.nullish(schema);

/** A field that may also be an empty text, which counts as absent. */
const textOrEmpty = (isValid: (value: string) => boolean) =>
  optional(
    v.pipe(
      text,
      v.check((value) => value === '' || isValid(value), invalid),
    ),
  );
const optionalTime = textOrEmpty(isTime);
/** The check of the scalar `URL`. */
const optionalUrl = textOrEmpty(isWebUrl);

/** A string with known values. Its type is string, because REST may add values. */
const oneOf = (...values: string[]): v.GenericSchema<unknown, string> =>
  v.pipe(text, v.picklist(values, 'unknown value'));

/** A list. Only one random item is checked, because checking a long list is slow. */
const list = <Item>(item: v.GenericSchema<unknown, Item>): v.GenericSchema<unknown, Item[]> =>
  v.pipe(
    v.custom<unknown[]>(Array.isArray),
    v.transform((items) => {
      const index = Math.floor(Math.random() * items.length);
      return items.slice(index, index + 1);
    }),
    v.array(item),
  );

/** An object with these fields. Every other field must match `otherFields`; by default no other field is allowed. */
function object<const Fields extends v.ObjectEntries>(
  fields: Fields,
  otherFields: v.GenericSchema = v.never('unknown field'),
): v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<Fields, undefined>>> {
  // Valibot's own check accepts an array as an object.
  return v.pipe(v.custom<object>(isJsonObject), v.objectWithRest(fields, otherFields));
}

/** A map from parameter names, which the merchant chooses, to texts. */
const textMap = v.custom<Record<string, string>>(isJsonObject);

const localityFields = { regionCode: text, administrativeArea: text, locality: text };
const address = object({ ...localityFields, addressLines: list(text), organization: text });

const recipientFields = {
  firstName: text,
  lastName: text,
  documentType: optional(oneOf('CC', 'CE', 'NI', 'TI')),
  document: optional(text),
  email: text,
  phoneNumber: text,
  address,
};
const recipient = object(recipientFields);

const reliability = oneOf('RELIABLE', 'MODERATE', 'UNRELIABLE', 'NO_ORDERS');
const customerBehavior = object({
  totalShipments: count,
  deliveredShipments: count,
  returnedShipments: count,
  reliability,
});

const order = object({
  name: text,
  createTime: time,
  updateTime: time,
  status: oneOf('NEW', 'CONFIRMED', 'READY', 'IN_PROGRESS', 'CANCELLED', 'DELIVERED', 'RETURN'),
  /** Only an order's recipient has a location: `locations/<id>`. */
  recipient: object({ ...recipientFields, location: text }),
  contentDescription: text,
  notes: text,
  sellingPriceCents: cents,
  cashOnDeliveryRequestCents: cents,
  shipment: optional(text),
  customerReliability: reliability,
  customerBehavior,
  referenceId: optional(text),
  referenceGid: optional(text),
  referenceUrl: optionalUrl,
  paymentMethods: optional(list(text)),
  fulfiller: text,
});

const shipment = object({
  name: text,
  createTime: optionalTime,
  updateTime: optionalTime,
  quote: optional(text),
  courier: optional(text),
  origin: optional(text),
  recipient: optional(recipient),
  requiresPickup: optional(v.boolean()),
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
  shipmentCostCents: optional(cents),
  cashOnDeliveryCostCents: optional(cents),
  totalCostCents: optional(cents),
  label: optional(text),
  labelUrl: optionalUrl,
});

const packageDimensions = object({ lengthCm: number, widthCm: number, heightCm: number });
const packageOfQuote = object({
  declaredValueCents: optional(cents),
  dimensions: optional(packageDimensions),
  weightKg: optional(number),
  contentDescription: optional(text),
});
const offer = object({
  courier: text,
  status: text,
  shipmentCostCents: optional(cents),
  returnShipmentCostCents: optional(cents),
  estimatedDeliveryOperatingDays: optional(number),
});
const quote = object({
  name: text,
  createTime: optionalTime,
  updateTime: optionalTime,
  /** A resource name of a location. A shipment's origin is the name of an Origin instead. */
  origin: optional(text),
  destination: optional(text),
  package: optional(packageOfQuote),
  cashOnDeliveryRequestCents: optional(cents),
  order: optional(text),
  offers: list(offer),
});

const origin = object({ name: text, location: optional(text), address: optional(address) });
const location = object({ name: text, address: object(localityFields) });
const organization = object({ name: text, balanceCents: cents, creditLimitCents: cents });

/** A channel has one more field, named after its network, with an object that has `phoneNumber`. Any name is possible. */
const network = v.custom<object>(isJsonObject, 'unknown field');
const channel = object({ name: text, type: text, active: v.boolean() }, network);

const sentTemplate = object({
  name: text,
  language: text,
  headerParameters: optional(textMap),
  bodyParameters: optional(textMap),
});
const message = object({
  name: text,
  createTime: time,
  status: oneOf('SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED'),
  contentType: oneOf('TEXT', 'TEMPLATE'),
  text: optional(text),
  template: optional(sentTemplate),
});

const templateParameter = object({ name: text, example: optional(text) });
const templateText = object({ text, parameters: optional(list(templateParameter)) });
const template = object({
  name: text,
  language: text,
  category: optional(text),
  body: optional(templateText),
  header: optional(templateText),
  buttons: optional(list(text)),
  footer: optional(text),
});

/** The schema of each kind of record. A list response has its rows in the property of this name ("Endpoints"). */
export const wireSchemas = {
  orders: order,
  shipments: shipment,
  quotes: quote,
  origins: origin,
  locations: location,
  organization,
  channels: channel,
  messages: message,
  templates: template,
};

/** The names of the kinds that are not named `<kind>/<identifier>` ("What the service does", Conventions). */
export const customNames = {
  messages: 'channels/<identifier>/conversations/<identifier>/messages/<identifier>',
  /** The merchant chooses the name. */
  templates: 'any text',
} as const;

export type ResourceKind = keyof typeof wireSchemas;

/** A record of this kind. */
export type WireRecord<Kind extends ResourceKind> = v.InferOutput<(typeof wireSchemas)[Kind]>;

// Each type is named like its section of the REST interface.
export interface AddressJson extends v.InferOutput<typeof address> {}
export interface RecipientJson extends v.InferOutput<typeof recipient> {
  /** Set for an order's recipient only. */
  location?: string;
}
export interface CustomerBehaviorJson extends v.InferOutput<typeof customerBehavior> {}
export interface OrderJson extends v.InferOutput<typeof order> {}
export interface ShipmentJson extends v.InferOutput<typeof shipment> {}
export interface PackageDimensionsJson extends v.InferOutput<typeof packageDimensions> {}
export interface PackageJson extends v.InferOutput<typeof packageOfQuote> {}
export interface OfferJson extends v.InferOutput<typeof offer> {}
export interface QuoteJson extends v.InferOutput<typeof quote> {}
export interface OriginJson extends v.InferOutput<typeof origin> {}
export interface LocationJson extends v.InferOutput<typeof location> {}
export interface OrganizationJson extends v.InferOutput<typeof organization> {}
export interface ChannelJson extends v.InferOutput<typeof channel> {}
export interface SentTemplateJson extends v.InferOutput<typeof sentTemplate> {}
export interface MessageJson extends v.InferOutput<typeof message> {}
export interface TemplateParameterJson extends v.InferOutput<typeof templateParameter> {}
export interface TemplateTextJson extends v.InferOutput<typeof templateText> {}
export interface TemplateJson extends v.InferOutput<typeof template> {}

/**
 * The JSON that REST sends and takes, field by field ("Resources and their fields" and "Endpoints" of its interface).
 * These types say what the interface promises; what really came is checked where it is used.
 */

import type { InvalidResponseError } from './errors.ts';

export interface AddressJson {
  regionCode: string;
  administrativeArea: string;
  locality: string;
  addressLines: string[];
  organization: string;
}

export interface RecipientJson {
  firstName: string;
  lastName: string;
  documentType?: string | null;
  document?: string | null;
  email: string;
  phoneNumber: string;
  address: AddressJson;
  /** `locations/<id>`; on an order's recipient only. */
  location?: string;
}

export interface CustomerBehaviorJson {
  totalShipments: number;
  deliveredShipments: number;
  returnedShipments: number;
  reliability: string;
}

export interface OrderJson {
  name: string;
  createTime: string;
  updateTime: string;
  status: string;
  recipient: RecipientJson;
  contentDescription: string;
  notes: string;
  sellingPriceCents: number;
  cashOnDeliveryRequestCents: number;
  shipment?: string;
  customerReliability: string;
  customerBehavior: CustomerBehaviorJson;
  referenceId?: string;
  referenceGid?: string;
  referenceUrl?: string;
  paymentMethods?: string[];
  fulfiller: string;
}

export interface ShipmentJson {
  name: string;
  createTime?: string;
  updateTime?: string;
  quote?: string;
  courier?: string;
  origin?: string;
  recipient?: RecipientJson;
  requiresPickup?: boolean;
  status: string;
  shipmentCostCents?: number;
  cashOnDeliveryCostCents?: number;
  totalCostCents?: number;
  label?: string;
  labelUrl?: string;
}

export interface PackageDimensionsJson {
  lengthCm: number;
  widthCm: number;
  heightCm: number;
}

export interface PackageJson {
  declaredValueCents?: number;
  dimensions?: PackageDimensionsJson;
  weightKg?: number;
  contentDescription?: string;
}

export interface OfferJson {
  courier: string;
  status: string;
  shipmentCostCents?: number;
  returnShipmentCostCents?: number;
  estimatedDeliveryOperatingDays?: number;
}

export interface QuoteJson {
  name: string;
  createTime?: string;
  updateTime?: string;
  /** A location, unlike a shipment's origin. */
  origin?: string;
  destination?: string;
  package?: PackageJson;
  cashOnDeliveryRequestCents?: number;
  order?: string;
  offers: OfferJson[];
}

export interface OriginJson {
  name: string;
  location?: string;
  address?: AddressJson;
}

export interface LocationJson {
  name: string;
  address: Pick<AddressJson, 'regionCode' | 'administrativeArea' | 'locality'>;
}

export interface OrganizationJson {
  name: string;
  balanceCents: number;
  creditLimitCents: number;
}

export interface ChannelJson {
  name: string;
  type: string;
  active: boolean;
  // An object named after the network, whatever its name is, holds `phoneNumber`.
}

export interface SentTemplateJson {
  name: string;
  language: string;
  headerParameters?: Record<string, string>;
  bodyParameters?: Record<string, string>;
}

export interface MessageJson {
  name: string;
  createTime: string;
  status: string;
  contentType: string;
  text?: string;
  template?: SentTemplateJson;
}

export interface TemplateTextJson {
  text: string;
  parameters?: { name: string; example?: string }[];
}

export interface TemplateJson {
  name: string;
  language: string;
  category?: string;
  body?: TemplateTextJson;
  header?: TemplateTextJson;
  buttons?: string[];
  footer?: string;
}

/** One page of a list. A row that is no record with a name of its list stands as the error that it is, in its own place. */
export interface Page<Row> {
  /** As they came, where all are records: others may have the same array. */
  rows: readonly (Row | InvalidResponseError)[];
  /** Undefined on the last page. */
  nextPageToken: string | undefined;
}

/** What every list takes. `pageSize` counts rows. */
export interface PageQuery {
  pageSize: number;
  pageToken?: string | undefined;
}

export interface OrderQuery extends PageQuery {
  status?: readonly string[] | undefined;
  /** Fuzzy on recipient names, exact on phone numbers and reference ids. */
  search?: string | undefined;
}

export interface LocationQuery extends PageQuery {
  /** A substring of the location's name or address. */
  query?: string | undefined;
}

export interface ChannelQuery extends PageQuery {
  channel: string;
}

export interface ConversationQuery extends ChannelQuery {
  conversation: string;
}

export interface AddressInputJson {
  addressLines: string[];
  organization?: string | null;
}

export interface ShipmentRecipientInputJson {
  firstName: string;
  lastName: string;
  email: string;
  phoneNumber: string;
  address: AddressInputJson;
  documentType?: string | null;
  document?: string | null;
}

export interface OrderRecipientInputJson extends ShipmentRecipientInputJson {
  location: string;
}

export interface CreateOrderJson {
  recipient: OrderRecipientInputJson;
  contentDescription: string;
  notes: string;
  sellingPriceCents: number;
  cashOnDeliveryRequestCents: number;
  status?: string;
  paymentMethods?: string[];
  referenceId?: string;
  referenceUrl?: string;
  fulfiller?: string;
}

export type UpdateOrderField =
  | 'status'
  | 'recipient'
  | 'sellingPriceCents'
  | 'cashOnDeliveryRequestCents'
  | 'paymentMethods'
  | 'contentDescription'
  | 'notes'
  | 'fulfiller';

export interface UpdateOrderJson {
  order: Partial<Pick<CreateOrderJson, UpdateOrderField>>;
  updateMask: UpdateOrderField[];
}

export interface CreateQuoteJson {
  origin: string;
  destination: string;
  package: PackageJson;
  cashOnDeliveryRequestCents?: number;
  order?: string;
}

export interface CreateShipmentJson {
  quote: string;
  courier: string;
  origin: string;
  recipient: ShipmentRecipientInputJson;
  requiresPickup: boolean;
}

export interface SendToPhoneJson {
  recipient: { phone: string; name: string };
  text: string;
}

export type SendMessageJson = { text: string } | { template: SentTemplateJson };

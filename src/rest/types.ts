/**
 * What the methods of api.ts take and return beside the records of wire-schema.ts: pages, and the JSON that REST takes
 * ("Endpoints" of its interface).
 */

import type { InvalidResponseError } from './errors.ts';
import type { PackageJson, SentTemplateJson } from './wire-schema.ts';

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

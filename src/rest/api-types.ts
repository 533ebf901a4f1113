/** The arguments of api.ts, and pages. The records in responses are in wire-schema.ts. */

import type { InvalidResponseError } from './errors.ts';
import type { PackageJson, RecipientJson, SentTemplateJson } from './wire-schema.ts';

/** Is told what the pages of a list show: whether REST knows the name under which Waybill sends the page token. */
export interface TokenWatch {
  /** Page tokens are ignored. `detail`: how this was seen, as a sentence. */
  ignored(detail: string): void;
  /** A page token has led to other rows. */
  followed(): void;
}

/** One page of a list. An InvalidResponseError replaces each row that is no record of the list. */
export interface Page<Row> {
  /** Callers may share this array and must not change it. */
  rows: readonly (Row | InvalidResponseError)[];
  /** Undefined on the last page. */
  nextPageToken: string | undefined;
  /** Shared by all pages of the list. Undefined if nobody watches the list. */
  tokenWatch?: TokenWatch;
}

/** The query of every list ("List query parameters"). `pageSize` is a number of rows. */
export interface PageQuery {
  pageSize: number;
  pageToken?: string | undefined;
}

/** The query of List Orders ("List query parameters"). */
export interface OrderQuery extends PageQuery {
  status?: readonly string[] | undefined;
  /** A fuzzy match on recipient names, an exact match on phone numbers and reference ids. */
  search?: string | undefined;
}

/** The query of List Locations ("List query parameters"). */
export interface LocationQuery extends PageQuery {
  /** A substring of the location's name or address. */
  query?: string | undefined;
}

/** The query of List Templates. `channel` is a resource name or a bare identifier. */
export interface ChannelQuery extends PageQuery {
  channel: string;
}

/** The query of List Messages. `conversation` is the bare identifier. */
export interface ConversationQuery extends ChannelQuery {
  conversation: string;
}

/** A recipient in requests ("Recipient"). */
export interface RecipientInputJson extends Omit<RecipientJson, 'address' | 'location'> {
  /** REST derives the other fields from the recipient's location. */
  address: { addressLines: string[]; organization?: string | null };
}

/** The body of Create Order ("Order"). `location` is a resource name. */
export interface CreateOrderJson {
  recipient: RecipientInputJson & { location: string };
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

/** The fields that Update Order can change ("Update Order rules"). */
export type UpdateOrderField = Exclude<keyof CreateOrderJson, 'referenceId' | 'referenceUrl'>;

/** The body of Update Order ("Update Order rules"). `updateMask` names the fields of `order` that REST applies. */
export interface UpdateOrderJson {
  order: Partial<Pick<CreateOrderJson, UpdateOrderField>>;
  updateMask: UpdateOrderField[];
}

/** The body of Create Quote ("Quote"). `origin` and `destination` are resource names of locations. */
export interface CreateQuoteJson {
  origin: string;
  destination: string;
  package: PackageJson;
  cashOnDeliveryRequestCents?: number;
  order?: string;
}

/** The body of Create Shipment ("Shipment"). */
export interface CreateShipmentJson {
  quote: string;
  courier: string;
  origin: string;
  recipient: RecipientInputJson;
  requiresPickup: boolean;
}

/** The body of Create Message by Phone ("Endpoints"). */
export interface SendToPhoneJson {
  recipient: { phone: string; name: string };
  text: string;
}

/** The body of a message to a conversation ("Endpoints"). The interface does not define the shape of `template`. */
export type SendMessageJson = { text: string } | { template: SentTemplateJson };

import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import type { RecordLoader } from '../loaders/record-loader.ts';
import type { SendMessageJson, SendToPhoneJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { StatusError } from '../rest/errors.ts';
import type { MessageJson, OfferJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { UnsettledError } from './errors.ts';
import { explainNoOffer, type NoOfferExplanation, type OfferPreference } from './offer-selection.ts';
import { lossNow, searchUntilSettled } from './search-until-settled.ts';

/** A record of which only the name is known. Its other fields cost a GET. */
export type NamedRecord = Pick<QuoteJson, 'name'>;

/** What is stored of a message under its key. */
export type SentMessage = Pick<MessageJson, 'name' | 'createTime'>;

/** The result of `shipOrder`, as it is stored under its key. Without a shipment, no offer was chosen. */
export type StoredShipping =
  | { quote: string; offers: OfferJson[] }
  | { quote: string; order: string; offer: OfferJson; shipment: string };

/** The shipment, or the offers of which none matches the preference, with the reason. */
export type ShippedOrder = { quote: QuoteJson | NamedRecord } & (
  | { order: OrderJson | NamedRecord; offer: OfferJson; shipment: ShipmentJson }
  | { offers: readonly OfferJson[]; noOffer: NoOfferExplanation }
);

/** The known fields of an offer. Others may have texts that a person wrote. */
export function toStoredOffer(offer: OfferJson): OfferJson {
  const { courier, status, shipmentCostCents, returnShipmentCostCents, estimatedDeliveryOperatingDays } =
    offer;
  return { courier, status, shipmentCostCents, returnShipmentCostCents, estimatedDeliveryOperatingDays };
}

export function toStoredShipping(shipped: ShippedOrder): StoredShipping {
  const quote = shipped.quote.name;
  if ('noOffer' in shipped) return { quote, offers: shipped.offers.map(toStoredOffer) };
  const { order, offer, shipment } = shipped;
  return { quote, order: order.name, offer: toStoredOffer(offer), shipment: shipment.name };
}

// The functions below read the results of earlier writes by their stored names. They use the access token of the caller,
// and REST decides what this token may see. They throw the errors of their reads.

/**
 * Reads a record. REST may show a new record late, so one that REST does not show is read again after that time.
 * @param processingMs how long REST may hide the record, in milliseconds.
 * @throws StatusError that names the record, if the record is gone, or if the deadline is earlier.
 */
export async function restoreRecord<Json>(
  loader: RecordLoader<Json>,
  name: string,
  processingMs: number,
  callContext: CallContext,
): Promise<Json> {
  async function read(): Promise<Json | null> {
    const record = await loader.load(name);
    // Otherwise the second read would find in the loader that there is no record.
    if (record === null) loader.clear(name);
    return record;
  }
  const isShown = (record: Json | null) => record !== null;
  const search = searchUntilSettled(lossNow(), read, isShown, processingMs, callContext);
  const record = await search.catch((error: unknown) => {
    if (!(error instanceof UnsettledError)) throw error;
    // A read that was not sent does not show whether this token can read the record.
    if (error.cause !== undefined) throw error.cause;
    return null;
  });
  return record ?? throwRestoredRecordMissing(name);
}

/**
 * Finds a message in the newest page of its conversation. A message that is no longer on that page is made from the
 * repeated input, which has the same content.
 */
export async function restoreMessage(
  { messagePage }: Loaders,
  sent: SentMessage,
  content: SendMessageJson | SendToPhoneJson,
): Promise<MessageJson> {
  const [, channel = '', , conversation = ''] = sent.name.split('/');
  const { rows } = await messagePage.load({ channel, conversation, pageSize: maxPageSize.messages });
  const found = rows.find((row): row is MessageJson => row.name === sent.name);
  if (found !== undefined) return found;
  // REST returns new messages in this status ("Message status").
  const message = { ...sent, status: 'SENDING' };
  return 'template' in content
    ? { ...message, contentType: 'TEMPLATE', template: content.template }
    : { ...message, contentType: 'TEXT', text: content.text };
}

/** Reads the shipment of `shipOrder`, or explains again why no offer matched. @throws the errors of `readShipment` */
export async function restoreShipping(
  stored: StoredShipping,
  preference: OfferPreference,
  readShipment: (name: string) => Promise<ShipmentJson>,
): Promise<ShippedOrder> {
  const quote = { name: stored.quote };
  if ('offers' in stored)
    return { quote, offers: stored.offers, noOffer: explainNoOffer(stored.offers, preference) };
  const { order, offer, shipment } = stored;
  return { quote, order: { name: order }, offer, shipment: await readShipment(shipment) };
}

/** @throws a StatusError with 404: the record that an earlier request with the key created can't be read. */
export function throwRestoredRecordMissing(name: string): never {
  throw new StatusError({ method: 'GET', path: `/v1/${name}` }, 404, {
    message: `An earlier request with this idempotencyKey created ${name}, but this access token cannot read it now. This request wrote nothing.`,
    fields: [],
  });
}

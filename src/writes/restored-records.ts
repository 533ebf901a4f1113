import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import type { SendMessageJson, SendToPhoneJson } from '../rest/api-types.ts';
import { StatusError } from '../rest/errors.ts';
import type { MessageJson, OfferJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { explainNoOffer, type NoOfferExplanation, type OfferPreference } from './offer-selection.ts';

/** A record of which only the name is known. Its other fields cost a GET. */
export interface NamedRecord {
  name: string;
}

/** The name and the time of a message, as they are stored under its key. */
export interface SentMessage {
  name: string;
  createTime: string;
}

export type ChosenOffer = Pick<
  OfferJson,
  'courier' | 'shipmentCostCents' | 'returnShipmentCostCents' | 'estimatedDeliveryOperatingDays'
>;

/** An offer without texts that a person wrote. */
export type StoredOffer = Pick<OfferJson, keyof ChosenOffer | 'status'>;

/** The result of `shipOrder`, as it is stored under its key. Without a shipment, no offer was chosen. */
export type StoredShipping =
  | { quote: string; offers: StoredOffer[] }
  | { quote: string; order: string; offer: ChosenOffer; shipment: string };

/** The shipment, or the quote of which no offer matches the preference, with the reason. */
export type ShippedOrder =
  | {
      order: OrderJson | NamedRecord;
      quote: QuoteJson | NamedRecord;
      offer: OfferJson;
      shipment: ShipmentJson;
    }
  | { quote: QuoteJson | NamedRecord; offers: readonly StoredOffer[]; noOffer: NoOfferExplanation };

/** The fields of an offer that may be stored: no text that a person wrote. */
export function toChosenOffer(offer: ChosenOffer): ChosenOffer {
  const { courier, shipmentCostCents, returnShipmentCostCents, estimatedDeliveryOperatingDays } = offer;
  return { courier, shipmentCostCents, returnShipmentCostCents, estimatedDeliveryOperatingDays };
}

function toStoredOffer(offer: StoredOffer): StoredOffer {
  return { ...toChosenOffer(offer), status: offer.status };
}

/** The offer of a shipment that was created before. Only available offers are chosen. */
export function fromChosenOffer(offer: ChosenOffer): OfferJson {
  return { ...offer, status: 'SUCCESS' };
}

export function toSentMessage({ name, createTime }: MessageJson): SentMessage {
  return { name, createTime };
}

export function toStoredShipping(shipped: ShippedOrder): StoredShipping {
  const quote = shipped.quote.name;
  if ('noOffer' in shipped) return { quote, offers: shipped.offers.map(toStoredOffer) };
  return {
    quote,
    order: shipped.order.name,
    offer: toChosenOffer(shipped.offer),
    shipment: shipped.shipment.name,
  };
}

/**
 * Reads the results of earlier writes by their stored names, with the access token of the caller: REST decides what this
 * token may see. Each function throws the error of its read. A record that is gone is an error that names the record.
 */
export function createRestoredRecords(loaders: Loaders) {
  async function shipment(name: string): Promise<ShipmentJson> {
    return (await loaders.shipmentById.load(name)) ?? restoredRecordMissing(name);
  }

  return {
    async order(name: string): Promise<OrderJson> {
      return (await loaders.orderById.load(name)) ?? restoredRecordMissing(name);
    },
    shipment,
    /** Finds a message in the newest page of its conversation. From older pages, the repeated input shows it. */
    async message(sent: SentMessage, content: SendMessageJson | SendToPhoneJson): Promise<MessageJson> {
      const [, channel = '', , conversation = ''] = sent.name.split('/');
      const pageSize = maxPageSize.messages;
      const { rows } = await loaders.messagePage.load({ channel, conversation, pageSize });
      const found = rows.find((row): row is MessageJson => row.name === sent.name);
      if (found !== undefined) return found;
      // REST returns new messages in this status ("Message status").
      const message = { ...sent, status: 'SENDING' };
      return 'template' in content
        ? { ...message, contentType: 'TEMPLATE', template: content.template }
        : { ...message, contentType: 'TEXT', text: content.text };
    },
    async shipping(stored: StoredShipping, preference: OfferPreference): Promise<ShippedOrder> {
      if ('shipment' in stored) {
        const { order, quote, offer } = stored;
        const created = await shipment(stored.shipment);
        return {
          order: { name: order },
          quote: { name: quote },
          offer: fromChosenOffer(offer),
          shipment: created,
        };
      }
      const { quote, offers } = stored;
      return { quote: { name: quote }, offers, noOffer: explainNoOffer(offers, preference) };
    },
  };
}

export function restoredRecordMissing(name: string): never {
  throw new StatusError({ method: 'GET', path: `/v1/${name}` }, 404, {
    message: `The idempotencyKey created ${name}, which this access token cannot read now. Nothing was sent.`,
    fields: [],
  });
}

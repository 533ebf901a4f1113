import type {
  LocationJson,
  MessageJson,
  OfferJson,
  OrderJson,
  OriginJson,
  QuoteJson,
  RecipientJson,
  SentTemplateJson,
  ShipmentJson,
  TemplateJson,
} from '../src/rest/wire-schema.ts';

// The records of REST under the names of the graph, with all fields that any screen needs.

export function orderShown(order: OrderJson, links: object = {}): object {
  return {
    ...order,
    id: order.name,
    sellingPrice: { cents: order.sellingPriceCents },
    cashOnDelivery: { cents: order.cashOnDeliveryRequestCents },
    recipient: recipientShown(order.recipient),
    ...links,
  };
}

export function recipientShown(recipient: RecipientJson, links: object = {}): object {
  return { ...recipient, fullName: `${recipient.firstName} ${recipient.lastName}`.trim(), ...links };
}

/** Returns null if the order has no shipment. */
export function shipmentShown(shipment: ShipmentJson | undefined, links: object = {}): object | null {
  if (shipment === undefined) return null;
  const { recipient, label, labelUrl } = shipment;
  return {
    ...shipment,
    id: shipment.name,
    totalCost: { cents: shipment.totalCostCents },
    courier: courierOf(shipment),
    recipient: recipient && recipientShown(recipient),
    label: label ? { url: labelUrl } : null,
    ...links,
  };
}

export const originShown = (origin: OriginJson, links: object = {}): object => ({
  ...origin,
  id: origin.name,
  ...links,
});

export const placeShown = ({ address }: LocationJson): object => address;

export function quoteShown(quote: QuoteJson, links: object = {}): object {
  const { weightKg, declaredValueCents } = quote.package ?? {};
  const offers = quote.offers.map((offer) => ({
    ...offer,
    courier: courierOf(offer),
    shipmentCost: { cents: offer.shipmentCostCents },
    returnShipmentCost: { cents: offer.returnShipmentCostCents },
  }));
  return { package: { weightKg, declaredValue: { cents: declaredValueCents } }, offers, ...links };
}

/** Messages as the customer reads them: plain texts, and templates with their parameters filled in. */
export function messageShown(templates: readonly TemplateJson[]): (message: MessageJson) => object {
  function body({ text, template: sent }: MessageJson): string | null {
    if (!sent) return text ?? null;
    const template = templates.find(({ name, language }) => name === sent.name && language === sent.language);
    if (template === undefined) return null;
    const { header, body, footer } = template;
    const parts = [
      filled(header?.text, sent.headerParameters),
      filled(body?.text, sent.bodyParameters),
      footer,
    ];
    return parts.filter(Boolean).join('\n\n');
  }
  return (message) => ({
    ...message,
    id: message.name,
    body: body(message),
    template: message.template ?? null,
  });
}

function filled(text: string | undefined, values: SentTemplateJson['bodyParameters']): string | undefined {
  return text?.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values?.[name] ?? whole);
}

/** `{ code }` for `couriers/{code}`. */
function courierOf({ courier }: ShipmentJson | OfferJson): { code: string } | null {
  return courier ? { code: courier.slice('couriers/'.length) } : null;
}

import { Type } from 'typebox';
import { cashOnDeliveryCost } from '../couriers/rates.ts';
import type { Server, Service } from '../http/server-type.ts';
import { CreateShipmentBody, IdPath, ListQuery } from '../interface/requests.ts';
import { type Offer, type Order, type Quote, Shipment } from '../interface/schemas.ts';
import { conflict, errorResponses, type FieldError, invalid } from '../interface/service-error.ts';
import { withLabelUrl } from '../label/label-url.ts';
import { hastenLabel, shipmentDueAt } from '../rules/due-transitions.ts';
import { shipmentRecipientFrom } from '../rules/recipients.ts';
import { isLabelDelayed, labelName } from '../rules/status-transitions.ts';
import { toOrderStatus } from '../seed/orders/status-generator.ts';
import type { Merchant } from '../store/merchants.ts';
import type { Store } from '../store/store.ts';

const tags = ['Shipments'];

/** Adds the routes of shipments: create from an offer, list and read. */
export function addRoutes(server: Server, service: Service): void {
  const { store, clock, staleOrders } = service;

  server.post(
    '/v1/shipments',
    {
      schema: {
        operationId: 'createShipment',
        summary: 'Accept an offer of a quote, and create the shipment.',
        tags,
        body: CreateShipmentBody,
        response: { 201: Shipment, ...errorResponses(400, 409) },
      },
    },
    ({ merchant, quirks, body }, reply) => {
      const { quote, offer } = acceptedOffer(store, merchant, body);
      const order = orderOf(store, merchant, quote);
      if (order !== undefined && !quirks.shipsAgain) assertShippable(order);
      const list = { merchant: merchant.id, path: 'shipments' };
      const now = clock.now();
      const name = `shipments/${store.nextIdentifier(list, quirks.identifiers, merchant.prefix, 4)}`;
      const cashOnDeliveryCostCents = cashOnDeliveryCost(quote.cashOnDeliveryRequestCents ?? 0);
      const shipment: Shipment = {
        name,
        createTime: now.toISOString(),
        updateTime: now.toISOString(),
        ...body,
        recipient: shipmentRecipientFrom(store, body.recipient, quote.destination),
        shipmentCostCents: offer.shipmentCostCents,
        cashOnDeliveryCostCents,
        totalCostCents: offer.shipmentCostCents + cashOnDeliveryCostCents,
        ...(isLabelDelayed(name)
          ? { status: 'GENERATING_LABEL' }
          : { status: 'LABEL_GENERATED', label: labelName(name) }),
      };
      store.database.transaction(() => {
        store.shipments.insert(list, shipment, shipmentDueAt(shipment, now));
        if (order === undefined) return;
        const status = toOrderStatus(shipment.status);
        const shipped = { ...order, status, shipment: name, updateTime: now.toISOString() };
        store.orders.replace({ merchant: merchant.id, path: 'orders' }, shipped);
      });
      if (order !== undefined) staleOrders.keep(merchant.id, order, quirks.shipmentNamedAfterMs);
      reply.code(201);
      return withLabelUrl(service, shipment);
    },
  );

  server.get(
    '/v1/shipments',
    {
      schema: {
        operationId: 'listShipments',
        summary: 'List shipments, newest first.',
        tags,
        querystring: ListQuery({ defaultSize: 100, maxSize: 1000 }, {}),
        response: {
          200: Type.Object({ shipments: Type.Array(Shipment), nextPageToken: Type.String() }),
          ...errorResponses(400),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, query: { pageSize = 100, pageToken } }) => {
      const page = store.shipments.page(
        { merchant: merchant.id, path: 'shipments' },
        { pageSize, pageToken, oldestFirst },
      );
      return {
        shipments: page.items.map((shipment) => withLabelUrl(service, shipment)),
        nextPageToken: page.nextPageToken,
      };
    },
  );

  server.get(
    '/v1/shipments/:id',
    {
      schema: {
        operationId: 'getShipment',
        summary: 'Read a shipment.',
        tags,
        params: IdPath,
        response: { 200: Shipment, ...errorResponses(400, 404) },
      },
    },
    ({ merchant, params }) => {
      const list = { merchant: merchant.id, path: 'shipments' };
      const shipment = store.shipments.get(list, `shipments/${params.id}`);
      hastenLabel(store, merchant.id, shipment, clock.now());
      return withLabelUrl(service, shipment);
    },
  );
}

/** Finds the quote and the offer of a new shipment. @throws ServiceError 400 that names every invalid reference. */
function acceptedOffer(
  store: Store,
  merchant: Merchant,
  body: CreateShipmentBody,
): { quote: Quote; offer: Offer } {
  const errors: FieldError[] = [];
  const quote = store.quotes.find({ merchant: merchant.id, path: 'quotes' }, body.quote);
  if (quote === undefined)
    errors.push({ field: 'quote', message: `refers to an unknown quote: ${body.quote}` });
  const offer = quote?.offers.find(({ courier, status }) => courier === body.courier && status === 'SUCCESS');
  if (quote !== undefined && offer === undefined) {
    errors.push({ field: 'courier', message: `has no offer with the status SUCCESS in ${quote.name}` });
  }
  const origin = store.origins.find({ merchant: merchant.id, path: 'origins' }, body.origin);
  if (origin === undefined)
    errors.push({ field: 'origin', message: `refers to an unknown origin: ${body.origin}` });
  else if (quote !== undefined && origin.location !== quote.origin) {
    errors.push({
      field: 'origin',
      message: `is at ${origin.location}, but ${quote.name} has the origin ${quote.origin}`,
    });
  }
  if (quote === undefined || offer === undefined || errors.length > 0) throw invalid(...errors);
  return { quote, offer };
}

/** The order of the quote, if any. */
function orderOf(store: Store, merchant: Merchant, quote: Quote): Order | undefined {
  if (quote.order === undefined) return undefined;
  return store.orders.get({ merchant: merchant.id, path: 'orders' }, quote.order);
}

/** @throws ServiceError 409 if the order is shipped, finished or cancelled. */
function assertShippable({ name, status, shipment }: Order): void {
  if (shipment !== undefined) throw conflict(`${name} is already shipped as ${shipment}`);
  if (!['NEW', 'CONFIRMED', 'READY'].includes(status)) {
    throw conflict(`${name} is ${status} and cannot be shipped`);
  }
}

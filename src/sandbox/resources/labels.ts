import { Type } from 'typebox';
import { courierDisplayName } from '../couriers/rates.ts';
import type { Server, Service } from '../http/server-type.ts';
import { IdPath } from '../interface/requests.ts';
import type { Shipment } from '../interface/schemas.ts';
import { errorResponses, notFound, ServiceError } from '../interface/service-error.ts';
import { isLabelUrlValid } from '../label/label-url.ts';
import { type Store, sharedLocations } from '../store/store.ts';

const pdf = {
  description: 'The label.',
  content: { 'application/pdf': { schema: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }) } },
};

/** Adds the routes of label PDFs: with a bearer token, or by signed URL without a token. */
export function addRoutes(server: Server, service: Service): void {
  const { store } = service;

  server.get(
    '/v1/shipments/:id/label',
    {
      schema: {
        operationId: 'getShipmentLabel',
        summary: 'Download the label of a shipment.',
        tags: ['Shipments'],
        params: IdPath,
        response: { 200: pdf, ...errorResponses(400, 404) },
      },
    },
    async ({ merchant, params }, reply) => {
      const list = { merchant: merchant.id, path: 'shipments' };
      const shipment = store.shipments.get(list, `shipments/${params.id}`);
      return reply.type('application/pdf').send(await labelPdf(store, merchant.id, shipment));
    },
  );

  server.get(
    '/signed/labels/:id.pdf',
    {
      config: { open: true },
      schema: {
        hide: true,
        params: IdPath,
        querystring: Type.Object({
          expires: Type.String({
            pattern: '^[0-9]{1,15}$',
            description: 'The time of the expiry, in seconds since 1970-01-01T00:00:00Z.',
          }),
          signature: Type.String(),
        }),
        response: { 200: pdf, ...errorResponses(400, 403, 404) },
      },
    },
    async ({ params, query }, reply) => {
      const { expires, signature } = query;
      if (!isLabelUrlValid(service, params.id, { expires: Number(expires), signature })) {
        throw new ServiceError(403, 'The URL of this label has expired, or was changed');
      }
      const name = `shipments/${params.id}`;
      const merchant = ownerOf(store, name);
      const shipment = store.shipments.get({ merchant, path: 'shipments' }, name);
      return reply.type('application/pdf').send(await labelPdf(store, merchant, shipment));
    },
  );
}

/** Finds the merchant of a shipment. A signed URL names none, but prefixes make shipment names unique. */
function ownerOf(store: Store, shipment: string): string {
  const [row] = store.database.all(
    "SELECT merchant FROM records WHERE path = 'shipments' AND key = ?",
    shipment,
  );
  if (row === undefined) throw notFound(shipment);
  return String(row.merchant);
}

/** Renders the label. @throws ServiceError 404 if the shipment has no label yet. */
async function labelPdf(store: Store, merchant: string, shipment: Shipment): Promise<Buffer> {
  if (shipment.label === undefined) throw notFound(`The label of ${shipment.name}`);
  const quote = store.quotes.get({ merchant, path: 'quotes' }, shipment.quote);
  const origin = store.origins.get({ merchant, path: 'origins' }, shipment.origin);
  const order =
    quote.order === undefined ? undefined : store.orders.get({ merchant, path: 'orders' }, quote.order);
  // Loads the PDF library with the first label, because it would take a sixth of the start time.
  const { renderLabel } = await import('../label/label.ts');
  const bytes = await renderLabel({
    shipment,
    origin,
    originLocation: store.locations.get(sharedLocations, origin.location),
    courierName: courierDisplayName(shipment.courier) ?? shipment.courier,
    cashOnDeliveryCents: quote.cashOnDeliveryRequestCents ?? 0,
    contentDescription: quote.package.contentDescription,
    ...(order?.referenceId === undefined ? {} : { referenceId: order.referenceId }),
  });
  return Buffer.from(bytes);
}

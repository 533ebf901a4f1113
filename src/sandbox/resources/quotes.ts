import { rateOffers } from '../couriers/rates.ts';
import type { Server, Service } from '../http/server-type.ts';
import { IdPath } from '../interface/requests.ts';
import { type Location, Quote, QuoteRequest } from '../interface/schemas.ts';
import { errorResponses, type FieldError, invalid } from '../interface/service-error.ts';
import { formatNames } from '../store/identifiers.ts';
import { sharedLocations } from '../store/store.ts';

const tags = ['Quotes'];

/** Adds the routes of quotes: create and read. */
export function addRoutes(server: Server, { store, clock }: Service): void {
  server.post(
    '/v1/quotes',
    {
      schema: {
        operationId: 'createQuote',
        summary: 'Ask the couriers for their offers.',
        tags,
        body: QuoteRequest,
        response: { 201: Quote, ...errorResponses(400) },
      },
    },
    ({ merchant, quirks, body }, reply) => {
      const errors: FieldError[] = [];
      const findLocation = (field: 'origin' | 'destination'): Location | undefined => {
        const location = store.locations.find(sharedLocations, body[field]);
        if (location === undefined)
          errors.push({ field, message: `refers to an unknown location: ${body[field]}` });
        return location;
      };
      const origin = findLocation('origin');
      const destination = findLocation('destination');
      if (body.order && !store.orders.find({ merchant: merchant.id, path: 'orders' }, body.order)) {
        errors.push({ field: 'order', message: `refers to an unknown order: ${body.order}` });
      }
      if (origin === undefined || destination === undefined || errors.length > 0) throw invalid(...errors);

      const list = { merchant: merchant.id, path: 'quotes' };
      const { package: parcel, cashOnDeliveryRequestCents = 0 } = body;
      const createTime = clock.now().toISOString();
      const offers = rateOffers({ origin, destination, package: parcel, cashOnDeliveryRequestCents });
      const quote: Quote = {
        name: `quotes/${store.nextIdentifier(list, quirks.identifiers, merchant.prefix, 4)}`,
        createTime,
        updateTime: createTime,
        ...body,
        cashOnDeliveryRequestCents,
        offers: formatNames(quirks.identifiers, offers),
      };
      store.quotes.insert(list, quote);
      reply.code(201);
      return quote;
    },
  );

  server.get(
    '/v1/quotes/:id',
    {
      schema: {
        operationId: 'getQuote',
        summary: 'Read a quote.',
        tags,
        params: IdPath,
        response: { 200: Quote, ...errorResponses(400, 404) },
      },
    },
    ({ merchant, params }) =>
      store.quotes.get({ merchant: merchant.id, path: 'quotes' }, `quotes/${params.id}`),
  );
}

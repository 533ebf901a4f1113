import { rateOffers } from '../couriers/rates.ts';
import type { Server, Service } from '../http/server-type.ts';
import { IdPath } from '../interface/requests.ts';
import { type Location, Quote, QuoteRequest } from '../interface/schemas.ts';
import { type FieldFault, invalid, refusals } from '../interface/service-error.ts';
import { namesAs } from '../store/identifiers.ts';
import { sharedLocations } from '../store/store.ts';

const tags = ['Quotes'];

/** The quotes: what each courier asks for a package between two locations. */
export function addQuoteRoutes(server: Server, { store, clock }: Service): void {
  server.post(
    '/v1/quotes',
    {
      schema: {
        operationId: 'createQuote',
        summary: 'Ask the couriers for their offers.',
        tags,
        body: QuoteRequest,
        response: { 201: Quote, ...refusals(400) },
      },
    },
    ({ merchant, quirks, body }, reply) => {
      const faults: FieldFault[] = [];
      const locationNamed = (field: 'origin' | 'destination'): Location | undefined => {
        const location = store.locations.find(sharedLocations, body[field]);
        if (location === undefined)
          faults.push({ field, message: `names no known location: ${body[field]}` });
        return location;
      };
      const origin = locationNamed('origin');
      const destination = locationNamed('destination');
      if (body.order && !store.orders.find({ merchant: merchant.id, path: 'orders' }, body.order)) {
        faults.push({ field: 'order', message: `names no known order: ${body.order}` });
      }
      if (origin === undefined || destination === undefined || faults.length > 0) throw invalid(...faults);

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
        offers: namesAs(quirks.identifiers, offers),
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
        response: { 200: Quote, ...refusals(400, 404) },
      },
    },
    ({ merchant, params }) =>
      store.quotes.get({ merchant: merchant.id, path: 'quotes' }, `quotes/${params.id}`),
  );
}

import { Type } from 'typebox';
import type { Server, Service } from '../http/server-type.ts';
import { ListQuery, TextFilter } from '../interface/requests.ts';
import { Location, Organization, Origin } from '../interface/schemas.ts';
import { errorResponses } from '../interface/service-error.ts';
import { containsText, sharedLocations } from '../store/store.ts';

/** Adds the routes of origins, locations and the organization. */
export function addRoutes(server: Server, { store }: Service): void {
  server.get(
    '/v1/origins',
    {
      schema: {
        operationId: 'listOrigins',
        summary: 'List the pickup origins.',
        tags: ['Origins'],
        querystring: ListQuery({ defaultSize: 100, maxSize: 1000 }, {}),
        response: {
          200: Type.Object({ origins: Type.Array(Origin), nextPageToken: Type.String() }),
          ...errorResponses(400),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, query: { pageSize = 100, pageToken } }) => {
      const list = { merchant: merchant.id, path: 'origins' };
      const page = store.origins.page(list, { pageSize, pageToken, oldestFirst });
      return { origins: page.items, nextPageToken: page.nextPageToken };
    },
  );

  server.get(
    '/v1/locations',
    {
      schema: {
        operationId: 'listLocations',
        summary: 'List the supported locations.',
        tags: ['Locations'],
        querystring: ListQuery(
          { defaultSize: 100, maxSize: 1000 },
          { query: TextFilter('A part of the name or of the address. Case and accents do not matter.') },
        ),
        response: {
          200: Type.Object({ locations: Type.Array(Location), nextPageToken: Type.String() }),
          ...errorResponses(400),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, query: { pageSize = 100, pageToken, query } }) => {
      const filters = query === undefined ? [] : [containsText(query)];
      const page = store.locations.page(sharedLocations, {
        pageSize,
        pageToken,
        oldestFirst,
        filters,
        reader: merchant.id,
      });
      return { locations: page.items, nextPageToken: page.nextPageToken };
    },
  );

  server.get(
    '/v1/organizations/mine',
    {
      schema: {
        operationId: 'getMyOrganization',
        summary: 'Read the balance and the credit limit of the account.',
        tags: ['Organizations'],
        response: { 200: Organization, ...errorResponses() },
      },
    },
    ({ merchant }) => merchant.organization,
  );
}

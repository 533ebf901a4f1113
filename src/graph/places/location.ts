import { InvalidResponseError } from '../../rest/errors.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { searchText } from '../fields/list-filters.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';

export const Location = builder.objectRef<LocationJson>('Location').implement({
  description: 'A municipality, or a part of a municipality, that couriers serve.',
  interfaces: [Node],
  fields: (t) => ({
    regionCode: t.string({
      description: 'The country, as an ISO 3166-1 alpha-2 code such as `CO`.',
      resolve: (location) => requireAddress(location).regionCode,
    }),
    administrativeArea: t.string({
      description: 'The state, province or department.',
      resolve: (location) => requireAddress(location).administrativeArea,
    }),
    locality: t.string({
      description: 'The city or municipality.',
      resolve: (location) => requireAddress(location).locality,
    }),
  }),
});

function requireAddress({ name, address }: LocationJson): LocationJson['address'] {
  if (address === undefined || address === null)
    throw new InvalidResponseError(`The REST service sent ${name} without an address`);
  return address;
}

const locationList = defineList(Location, 'locations');

defineRecordQuery('location', Location, 'locations');

builder.queryFields((t) => ({
  locations: t.field({
    ...locationList.field,
    description: 'The locations that couriers serve. Costs `GET /v1/locations`.',
    args: {
      ...locationList.field.args,
      search: t.arg.string({
        description: "A part of the location's name or address, such as `Medellín`. At most 256 characters.",
      }),
    },
    resolve: (_root, { search, ...args }, { loaders }) =>
      locationList.read(loaders.locationPage, args, { query: searchText('search', search) || undefined }),
  }),
}));

import { maxPageSize } from '../../loaders/loaders.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { isNameOf, resourceName } from '../../rest/resource-name.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { connect, connectionArgs, connectionOf } from '../relay/connection.ts';
import { Node, registerNode } from '../relay/node.ts';
import { searchText } from '../relay/search-text.ts';

export const Location = builder.objectRef<LocationJson>('Location').implement({
  description: 'A place that couriers deliver to or collect from: a municipality or a part of one.',
  interfaces: [Node],
  fields: (t) => ({
    regionCode: t.string({
      description: 'The country, as an ISO 3166-1 alpha-2 code such as `CO`.',
      resolve: (location) => addressOf(location).regionCode,
    }),
    administrativeArea: t.string({
      description: 'The state, province or department.',
      resolve: (location) => addressOf(location).administrativeArea,
    }),
    locality: t.string({
      description: 'The city or municipality.',
      resolve: (location) => addressOf(location).locality,
    }),
  }),
});

function addressOf({ name, address }: LocationJson): LocationJson['address'] {
  if (address === undefined || address === null)
    throw new InvalidResponseError(`${name} came without its address`);
  return address;
}

const LocationConnection = connectionOf(Location, 'locations');

registerNode({
  typename: 'Location',
  owns: (id) => isNameOf('locations', id),
  load: (id, { locationById }) => locationById.load(id),
});

builder.queryFields((t) => ({
  location: t.field({
    type: Location,
    nullable: true,
    description: 'One location, or null where there is none. Costs a filtered `GET /v1/locations`.',
    args: {
      id: t.arg.id({ required: true, description: '`locations/<identifier>` or the bare identifier.' }),
    },
    resolve: (_root, { id }, { loaders }) => loaders.locationById.load(resourceName('locations', id)),
  }),
  locations: t.field({
    type: LocationConnection,
    nullable: true,
    description: 'The locations that are supported. Costs `GET /v1/locations`.',
    args: {
      ...connectionArgs(maxPageSize.locations),
      search: t.arg.string({
        description: 'A part of the name or address, such as `Medellín`; at most 256 characters.',
      }),
    },
    resolve: (_root, { search, ...args }, { loaders }) =>
      connect({
        list: 'locations',
        pages: loaders.locationPage,
        query: { query: searchText('search', search) || undefined },
        args,
        maximum: maxPageSize.locations,
      }),
  }),
}));

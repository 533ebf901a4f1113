import { maxPageSize } from '../../loaders/loaders.ts';
import { isNameOf, resourceName } from '../../rest/resource-name.ts';
import type { OriginJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { relatedRecord } from '../fields/related-record.ts';
import { connect, connectionArgs, connectionOf } from '../relay/connection.ts';
import { Node, registerNode } from '../relay/node.ts';
import { Address } from './address.ts';
import { Location } from './location.ts';

export const Origin = builder.objectRef<OriginJson>('Origin').implement({
  description: "One of the merchant's own places, where couriers collect packages.",
  interfaces: [Node],
  fields: (t) => ({
    location: t.field({
      type: Location,
      nullable: true,
      description:
        'Its place among the supported locations. Costs a filtered `GET /v1/locations` unless only its id is selected.',
      resolve: ({ location }, _args, { loaders }, info) =>
        relatedRecord('locations', location, loaders, info),
    }),
    address: t.expose('address', { type: Address, nullable: true, description: 'Where it is.' }),
  }),
});

const OriginConnection = connectionOf(Origin, 'origins');

registerNode({
  typename: 'Origin',
  owns: (id) => isNameOf('origins', id),
  load: (id, { originById }) => originById.load(id),
});

builder.queryFields((t) => ({
  origin: t.field({
    type: Origin,
    nullable: true,
    description: 'One origin, or null where there is none. Costs `GET /v1/origins`, once for all origins.',
    args: { id: t.arg.id({ required: true, description: '`origins/<identifier>` or the bare identifier.' }) },
    resolve: (_root, { id }, { loaders }) => loaders.originById.load(resourceName('origins', id)),
  }),
  origins: t.field({
    type: OriginConnection,
    nullable: true,
    description: "The merchant's origins. Costs `GET /v1/origins`.",
    args: connectionArgs(maxPageSize.origins),
    resolve: (_root, args, { loaders }) =>
      connect({ list: 'origins', pages: loaders.originPage, query: {}, args, maximum: maxPageSize.origins }),
  }),
}));

import type { OriginJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { relation } from '../fields/related-record.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { Address } from './address.ts';
import { Location } from './location.ts';

export const Origin = builder.objectRef<OriginJson>('Origin').implement({
  description: 'A place of the merchant where couriers collect packages.',
  interfaces: [Node],
  fields: (t) => ({
    location: t.field(
      relation(Location, 'locations', 'The location of the origin.', ({ location }) => location),
    ),
    address: t.expose('address', {
      type: Address,
      nullable: true,
      description: 'The postal address of the origin.',
    }),
  }),
});

const originList = defineList(Origin, 'origins');

defineRecordQuery('origin', Origin, 'origins');

builder.queryFields((t) => ({
  origins: t.field({
    ...originList.field,
    description: "The merchant's origins. Costs `GET /v1/origins`.",
    resolve: (_root, args, { loaders }) => originList.read(loaders.originPage, args, {}),
  }),
}));

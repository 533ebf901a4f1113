import type { OriginJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { relatedRecord } from '../fields/related-record.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { Address } from './address.ts';
import { Location } from './location.ts';

export const Origin = builder.objectRef<OriginJson>('Origin').implement({
  description: 'A place of the merchant where couriers collect packages.',
  interfaces: [Node],
  fields: (t) => ({
    location: t.field({
      type: Location,
      nullable: true,
      description:
        'The location of the origin. Costs a filtered `GET /v1/locations` unless only its id is selected.',
      resolve: ({ location }, _args, { loaders }, info) =>
        relatedRecord('locations', location, loaders, info),
    }),
    address: t.expose('address', {
      type: Address,
      nullable: true,
      description: 'The postal address of the origin.',
    }),
  }),
});

const originList = defineList(Origin, 'origins');

defineRecordQuery('origin', Origin, 'origins', 'Costs `GET /v1/origins`, once for all origins.');

builder.queryFields((t) => ({
  origins: t.field({
    type: originList.type,
    nullable: true,
    description: "The merchant's origins. Costs `GET /v1/origins`.",
    args: originList.args,
    resolve: (_root, args, { loaders }) => originList.read(loaders.originPage, args, {}),
  }),
}));

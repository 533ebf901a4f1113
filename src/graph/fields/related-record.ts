import type { ObjectRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import type { RecordLoader } from '../../loaders/record-loader.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { type Collection, isResourceName } from '../../rest/resource-name.ts';
import type { WireRecord } from '../../rest/wire-schema.ts';
import type { SchemaTypes } from '../builder.ts';
import type { Context } from '../context.ts';
import { selectsOnlyId } from './selection.ts';

/** The collections whose records REST finds by id. */
export type RecordByCollection = {
  [C in 'orders' | 'shipments' | 'quotes' | 'origins' | 'locations' | 'channels']: WireRecord<C>;
};

export const recordReaders: {
  readonly [C in keyof RecordByCollection]: {
    /** A function, because `Loaders` makes each loader on first use. */
    loader(loaders: Loaders): RecordLoader<RecordByCollection[C]>;
    /** The call that reads a record, for descriptions. */
    call: string;
  };
} = {
  orders: { loader: ({ orderById }) => orderById, call: '`GET /v1/orders/{id}`' },
  shipments: { loader: ({ shipmentById }) => shipmentById, call: '`GET /v1/shipments/{id}`' },
  quotes: { loader: ({ quoteById }) => quoteById, call: '`GET /v1/quotes/{id}`' },
  origins: { loader: ({ originById }) => originById, call: '`GET /v1/origins` (once for all origins)' },
  locations: { loader: ({ locationById }) => locationById, call: 'a search with `GET /v1/locations`' },
  channels: { loader: ({ channelById }) => channelById, call: '`GET /v1/channels` (once for all channels)' },
};

/**
 * The options of a nullable field with the record that a REST payload names. `nameOf` reads that name.
 * @example location: t.field(relation(Location, 'locations', 'The location.', ({ location }) => location))
 */
export const relation = <C extends keyof RecordByCollection, Source>(
  type: ObjectRef<SchemaTypes, RecordByCollection[C]>,
  collection: C,
  description: string,
  nameOf: (source: Source) => string | null | undefined,
) => ({
  type,
  nullable: true as const,
  description: `${description} Costs ${recordReaders[collection].call} if more than \`id\` is selected.`,
  resolve: (source: Source, _args: object, { loaders }: Context, info: GraphQLResolveInfo) =>
    relatedRecord(collection, nameOf(source), loaders, info),
});

/**
 * Loads the record that a REST payload names. If only `id` is selected, the name is enough and no call is made.
 * @param name the result is null if the name is absent or empty
 * @param info without it the record is always loaded
 * @throws InvalidResponseError if `name` is not a name of `collection`
 * @example resolve: ({ quote }, _args, { loaders }, info) => relatedRecord('quotes', quote, loaders, info)
 */
export function relatedRecord<C extends keyof RecordByCollection>(
  collection: C,
  name: string | null | undefined,
  loaders: Loaders,
  info?: GraphQLResolveInfo,
): RecordByCollection[C] | Promise<RecordByCollection[C] | null> | null {
  if (name === undefined || name === null || name === '') return null;
  checkName(collection, name);
  // Only the id is selected, so nothing but the name is read from the record.
  if (info !== undefined && selectsOnlyId(info)) return { name } as RecordByCollection[C];
  return recordReaders[collection].loader(loaders).find(name);
}

/** Checks a name from REST. @throws InvalidResponseError if it is not a name of `collection`. */
export function checkName(collection: Collection, name: string): void {
  if (isResourceName(collection, name)) return;
  throw new InvalidResponseError(
    `The REST service sent ${quoteForMessage(String(name))}, which is not a resource name of ${collection}`,
  );
}

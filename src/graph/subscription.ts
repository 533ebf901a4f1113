import { GraphQLObjectType } from 'graphql';

/** The fields of Query that clients may watch: records by their ids, and first pages that one REST call answers. */
const watchedFields = [
  'nodes',
  'order',
  'orders',
  'shipment',
  'shipments',
  'conversation',
  'organization',
] as const;

/**
 * The type Subscription: fields of Query, with their names, arguments, types and resolvers. A stream runs its operation
 * again and again (server/live), so a field needs no definition of its own.
 * @throws Error if Query lacks a field
 */
export function subscriptionOf(query: GraphQLObjectType): GraphQLObjectType {
  const { fields } = query.toConfig();
  return new GraphQLObjectType({
    name: 'Subscription',
    description:
      'The fields of `Query` that clients may watch. The first event is the response to the query, and each later one ' +
      'is the whole response again, when it has changed. An event costs the REST calls of the query. Arguments that ' +
      'cost a scan of a list are refused.',
    fields: Object.fromEntries(
      watchedFields.map((name) => {
        const field = fields[name];
        if (field === undefined) throw new Error(`Query has no field ${name} to watch`);
        return [name, field];
      }),
    ),
  });
}

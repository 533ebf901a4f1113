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
      'The fields of `Query` that clients can watch. The first event is the response to the query. When the response ' +
      'changes, a new event contains the whole new response. Waybill runs the query again at intervals, and each run ' +
      'costs the REST calls of the query. Arguments that need a scan of a list, such as `createdSince`, are not allowed.',
    fields: Object.fromEntries(
      watchedFields.map((name) => {
        const field = fields[name];
        if (field === undefined) throw new Error(`Query has no field ${name} to watch`);
        return [name, field];
      }),
    ),
  });
}

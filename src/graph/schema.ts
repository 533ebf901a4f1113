import { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './fields/scalars.ts';
import './organization/organization.ts';
import './orders/create-order.ts';
import './quotes/create-quote.ts';
import './shipments/courier-counts.ts';
import './shipments/create-shipment.ts';
import './shipments/label-document.ts';
import './messaging/send-message.ts';
import './messaging/send-message-to-phone.ts';
import './orders/update-order.ts';
import './shipments/ship-order.ts';
import { subscriptionOf } from './subscription.ts';

builder.queryType({
  description: "The operations that read the merchant's orders, quotes, shipments and messages.",
});

builder.mutationType({
  description:
    'The operations that write. Each mutation returns a success or a `UserError`. The mutations of one request run one after ' +
    'another, and write at most 100 records in total.',
});

const description =
  'The orders, delivery quotes, shipments and messages of a merchant. Waybill, this server, reads and writes them ' +
  "through a REST service. Send the merchant's access token in the header `Authorization: Bearer <token>`. The " +
  'description of a field names the REST calls that the field costs.';

/** The GraphQL schema. The import of a file adds the types of that file, and of the files that it imports. */
export const schema: GraphQLSchema = withSubscription(builder.toSchema().toConfig());

function withSubscription(config: ReturnType<GraphQLSchema['toConfig']>): GraphQLSchema {
  if (config.query == null) throw new Error('The schema has no type Query');
  return new GraphQLSchema({ ...config, subscription: subscriptionOf(config.query), description });
}

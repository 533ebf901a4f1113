import { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './fields/scalars.ts';
import './relay/node.ts';
import './places/location.ts';
import './orders/recipient.ts';
import './orders/order.ts';
import './quotes/quote.ts';
import './places/origin.ts';
import './shipments/shipment.ts';
import './organization/organization.ts';
import './messaging/channel.ts';
import './messaging/template.ts';
import './messaging/conversation.ts';
import './messaging/message.ts';
import './orders/create-order.ts';
import './quotes/create-quote.ts';
import './shipments/create-shipment.ts';
import './messaging/send-message.ts';
import './messaging/send-message-to-phone.ts';
import './orders/update-order.ts';
import './shipments/ship-order.ts';

builder.queryType({
  description: "Everything that can be read: the merchant's orders, shipments and messages.",
});

builder.mutationType({
  description:
    'Everything that can be changed. What a person can get wrong comes back as data, a member of the result that is a ' +
    '`UserError`. What is broken is an error of the field, which is null then; the other mutations of the request are ' +
    'answered all the same. Mutations of one request run one after the other, and write at most 100 things together.',
});

const description =
  "A merchant's orders, delivery quotes, shipments and messages, over one REST service. Each field that costs a call to " +
  'the REST service names it. Give the access token in the header `Authorization: Bearer <token>`.';

/** The GraphQL schema. The import of a file adds the types of that file. */
export const schema: GraphQLSchema = new GraphQLSchema({ ...builder.toSchema().toConfig(), description });

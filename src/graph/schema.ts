import { GraphQLSchema } from 'graphql';
import { withAskingFields } from './asking-fields.ts';
import { builder } from './builder.ts';
import { withExactLeaves } from './exact-leaves.ts';
import { withPlainFields } from './plain-fields.ts';
import './scalars.ts';
import './node.ts';
import './location.ts';
import './recipient.ts';
import './order.ts';
import './quote.ts';
import './origin.ts';
import './shipment.ts';
import './organization.ts';
import './channel.ts';
import './template.ts';
import './conversation.ts';
import './message.ts';
import './create-order.ts';
import './create-quote.ts';
import './create-shipment.ts';
import './send-message.ts';
import './send-message-to-phone.ts';
import './update-order.ts';
import './ship-order.ts';

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

/** The graph. Importing a type's file adds it. */
export const schema: GraphQLSchema = withAskingFields(
  withExactLeaves(withPlainFields(new GraphQLSchema({ ...builder.toSchema().toConfig(), description }))),
);

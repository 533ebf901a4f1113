import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
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

builder.queryType({
  description: "Everything that can be read: the merchant's orders, shipments and messages.",
});

/** The graph. Importing a type's file adds it. */
export const schema: GraphQLSchema = builder.toSchema();

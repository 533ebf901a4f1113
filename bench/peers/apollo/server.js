import { readFileSync } from 'node:fs';
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import fastifyApollo from '@as-integrations/fastify';
import DataLoader from 'dataloader';
import Fastify from 'fastify';

// Apollo Server with its REST data source (https://www.apollographql.com/docs/apollo-server/data/fetching-rest) and a
// DataLoader for each kind of record. It runs in Fastify, because its standalone server is for prototypes and was
// slower: https://www.apollographql.com/docs/apollo-server/api/standalone

class OrderService extends RESTDataSource {
  baseURL = process.env.UPSTREAM_URL;

  constructor({ authorization, cache }) {
    super({ cache });
    this.authorization = authorization;
  }

  willSendRequest(_path, request) {
    request.headers.authorization = this.authorization;
  }

  /**
   * No code changes a parsed body, so it needs no copy:
   * https://github.com/apollographql/datasource-rest#cloneparsedbody
   */
  cloneParsedBody(body) {
    return body;
  }

  record(name) {
    return this.get(`/v1/${name}`);
  }

  async orders(first) {
    const { orders } = await this.get('/v1/orders', { params: { pageSize: String(first) } });
    return orders;
  }

  origin = new DataLoader(async (names) => {
    const { origins } = await this.get('/v1/origins', { params: { pageSize: '1000' } });
    const known = new Map(origins.map((origin) => [origin.name, origin]));
    return names.map((name) => known.get(name) ?? null);
  });
  shipment = new DataLoader((names) => Promise.all(names.map((name) => this.record(name))));
  quote = new DataLoader((names) => Promise.all(names.map((name) => this.record(name))));
}

const cop = (cents) => (cents === undefined ? null : { cents, currency: 'COP' });
const id = ({ name }) => name;
const courier = (parent) => parent.courier && { id: parent.courier };

const resolvers = {
  Query: {
    order: (_root, args, { service }) => service.record(`orders/${encodeURIComponent(args.id)}`),
    orders: async (_root, { first }, { service }) => ({ nodes: await service.orders(first) }),
  },
  Order: {
    id,
    sellingPrice: (order) => cop(order.sellingPriceCents),
    cashOnDelivery: (order) => cop(order.cashOnDeliveryRequestCents),
    shipment: ({ shipment }, _args, { service }) => shipment && service.shipment.load(shipment),
  },
  Shipment: {
    id,
    courier,
    totalCost: (shipment) => cop(shipment.totalCostCents),
    label: ({ label, labelUrl }) => (label ? { id: label, url: labelUrl } : null),
    origin: ({ origin }, _args, { service }) => origin && service.origin.load(origin),
    quote: ({ quote }, _args, { service }) => quote && service.quote.load(quote),
  },
  Origin: { id },
  Quote: { id },
  Offer: { courier, shipmentCost: (offer) => cop(offer.shipmentCostCents) },
};

const server = new ApolloServer({
  typeDefs: readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'),
  resolvers,
});
await server.start();
const app = Fastify({ logger: false });
await app.register(fastifyApollo(server), {
  context: async ({ headers: { authorization } }) => ({
    service: new OrderService({ authorization, cache: server.cache }),
  }),
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });

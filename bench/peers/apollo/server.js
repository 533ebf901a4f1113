import { readFileSync } from 'node:fs';
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import DataLoader from 'dataloader';

// Apollo Server with its data source for REST, which makes no equal GET twice in an operation, and a DataLoader for origins,
// which REST gives as a list alone: https://www.apollographql.com/docs/apollo-server/data/fetching-rest

class OrderService extends RESTDataSource {
  baseURL = process.env.UPSTREAM_URL;

  constructor({ authorization, cache }) {
    super({ cache });
    this.authorization = authorization;
  }

  willSendRequest(_path, request) {
    request.headers.authorization = this.authorization;
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
await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req }) => ({
    service: new OrderService({ authorization: req.headers.authorization, cache: server.cache }),
  }),
});

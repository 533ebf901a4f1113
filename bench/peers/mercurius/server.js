import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { Pool } from 'undici';

// Mercurius as its documentation recommends for speed: JIT from the first request on, and loaders, which load the
// relations of all objects of a level at once. https://mercurius.dev/#/docs/api/options,
// https://mercurius.dev/#/docs/loaders

const pool = new Pool(process.env.UPSTREAM_URL, { connections: 64 });

async function get(path, authorization) {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { authorization } });
  if (statusCode === 404) {
    await body.dump();
    return null;
  }
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
  return body.json();
}

const cop = (cents) => (cents === undefined ? null : { cents, currency: 'COP' });

const id = ({ name }) => name;
const courier = (parent) => parent.courier && { id: parent.courier };

const resolvers = {
  Query: {
    order: (_, args, { authorization }) => get(`/v1/orders/${encodeURIComponent(args.id)}`, authorization),
    async orders(_, { first }, { authorization }) {
      const { orders } = await get(`/v1/orders?pageSize=${first}`, authorization);
      return { nodes: orders };
    },
  },
  Order: {
    id,
    sellingPrice: (order) => cop(order.sellingPriceCents),
    cashOnDelivery: (order) => cop(order.cashOnDeliveryRequestCents),
  },
  Shipment: {
    id,
    courier,
    totalCost: (shipment) => cop(shipment.totalCostCents),
    label: ({ label, labelUrl }) => (label ? { id: label, url: labelUrl } : null),
  },
  Origin: { id },
  Quote: { id },
  Offer: { courier, shipmentCost: (offer) => cop(offer.shipmentCostCents) },
};

/** Reads the record that each object names. Mercurius asks for each name once in an operation. */
const byName =
  (field) =>
  (queries, { authorization }) =>
    Promise.all(queries.map(({ obj }) => (obj[field] ? get(`/v1/${obj[field]}`, authorization) : null)));

const loaders = {
  Order: { shipment: byName('shipment') },
  Shipment: {
    quote: byName('quote'),
    // REST has no endpoint for one origin.
    async origin(queries, { authorization }) {
      const { origins } = await get('/v1/origins?pageSize=1000', authorization);
      const known = new Map(origins.map((origin) => [origin.name, origin]));
      return queries.map(({ obj }) => known.get(obj.origin) ?? null);
    },
  },
};

const app = Fastify({ logger: false });
app.register(mercurius, {
  schema: readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'),
  resolvers,
  loaders,
  jit: 1,
  context: ({ headers: { authorization } }) => ({ authorization }),
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });

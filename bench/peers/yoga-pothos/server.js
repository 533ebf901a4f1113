import { createServer } from 'node:http';
import DataLoader from 'dataloader';
import { createYoga } from 'graphql-yoga';
import { Pool } from 'undici';
import { schema } from './schema.js';

// Yoga with a Pothos schema, and a DataLoader for each kind of record in each request: https://pothos-graphql.dev,
// https://the-guild.dev/graphql/yoga-server/docs. GraphiQL and the masking of errors have their defaults.

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

/** With LIST_PAGES=yes, many shipments are read as a page of REST's list, and the others by their ids. */
const usesListPages = process.env.LIST_PAGES === 'yes';

async function shipmentsByName(names, authorization) {
  const one = (name) => get(`/v1/${name}`, authorization);
  if (!usesListPages || names.length < 5) return Promise.all(names.map(one));
  const { shipments } = await get(`/v1/shipments?pageSize=${Math.ceil(1.25 * names.length)}`, authorization);
  const known = new Map(shipments.map((shipment) => [shipment.name, shipment]));
  return Promise.all(names.map((name) => known.get(name) ?? one(name)));
}

function createContext({ request }) {
  const authorization = request.headers.get('authorization');
  const byName = () =>
    new DataLoader((names) => Promise.all(names.map((name) => get(`/v1/${name}`, authorization))));
  return {
    orders: (first) => get(`/v1/orders?pageSize=${first}`, authorization),
    order: byName(),
    shipment: new DataLoader((names) => shipmentsByName(names, authorization)),
    quote: byName(),
    // REST has no endpoint for one origin.
    origin: new DataLoader(async (names) => {
      const { origins } = await get('/v1/origins?pageSize=1000', authorization);
      const known = new Map(origins.map((origin) => [origin.name, origin]));
      return names.map((name) => known.get(name) ?? null);
    }),
  };
}

const yoga = createYoga({ schema, context: createContext, logging: false });
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');

import { createServer, type IncomingMessage } from 'node:http';
import { Pool } from 'undici';
import type { OrderJson, OriginJson, QuoteJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';
import { deepJson, orderJson, shipmentsJson } from './shapes.ts';

// The limit: a server without GraphQL that is written for the four questions alone. For each question it makes the
// calls of Waybill, at the same moments and with the same pages. It keeps origins for a minute, as Waybill does.

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { connections: 64 });

async function get<Json>(path: string, authorization: string): Promise<Json> {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { authorization } });
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
  // REST follows its interface.
  return (await body.json()) as Json;
}

const ordersPage = (size: number, bearer: string) =>
  get<{ orders: OrderJson[] }>(`/v1/orders?pageSize=${size}`, bearer);
const shipmentsPage = (size: number, bearer: string) =>
  get<{ shipments: ShipmentJson[] }>(`/v1/shipments?pageSize=${size}`, bearer);

const minuteMs = 60_000;

interface Known {
  until: number;
  origins: Promise<Map<string, OriginJson>> | undefined;
}

/** What the server knows about access tokens, oldest first. */
const known = new Map<string, Known>();

function knownOf(bearer: string): { tenant: Known; isNew: boolean } {
  const now = performance.now();
  const before = known.get(bearer);
  if (before !== undefined && before.until > now) return { tenant: before, isNew: false };
  const tenant = { until: now + minuteMs, origins: undefined };
  known.delete(bearer);
  known.set(bearer, tenant);
  // The first entry of a map is the oldest.
  if (known.size > 1_000) known.delete(known.keys().next().value ?? '');
  return { tenant, isNew: true };
}

/** One of this many new tokens gets a larger page, as in Waybill, which learns from that page. */
const newPerLargerPage = 50;
let newcomers = 0;

/**
 * For a known token, the page of shipments is requested together with the page of orders, and is a quarter larger.
 * For a new token, it follows the page of orders and has as many rows, as in Waybill after requests of other tokens.
 */
async function ordersWithShipments(orders: number, bearer: string, isNew: boolean) {
  if (isNew) {
    newcomers += 1;
    const rows = newcomers % newPerLargerPage === 0 ? orders * 2 : orders;
    const page = await ordersPage(orders, bearer);
    return { ...page, ...(await shipmentsPage(rows, bearer)) };
  }
  const [page, ahead] = await Promise.all([
    ordersPage(orders, bearer),
    shipmentsPage(Math.ceil(orders * 1.25), bearer),
  ]);
  return { ...page, ...ahead };
}

function byName<Json extends { name: string }>(rows: readonly Json[]): Map<string, Json> {
  return new Map(rows.map((row) => [row.name, row]));
}

async function originsOf(bearer: string): Promise<Map<string, OriginJson>> {
  const { origins } = await get<{ origins: OriginJson[] }>('/v1/origins?pageSize=1000', bearer);
  return byName(origins);
}

const answers: Record<string, (bearer: string, variables: { id: string }) => Promise<unknown> | object> = {
  '/order': async (bearer, { id }) => orderJson(await get<OrderJson>(`/v1/orders/${id}`, bearer)),
  async '/shipments'(bearer) {
    const { orders, shipments } = await ordersWithShipments(100, bearer, knownOf(bearer).isNew);
    return shipmentsJson(orders, byName(shipments));
  },
  async '/deep'(bearer) {
    const { tenant, isNew } = knownOf(bearer);
    const { orders, shipments } = await ordersWithShipments(50, bearer, isNew);
    const known = byName(shipments);
    const ofOrders = orders.map(({ shipment }) => known.get(shipment ?? ''));
    tenant.origins ??= originsOf(bearer);
    const quotes = await Promise.all(
      ofOrders.map((shipment) => get<QuoteJson>(`/v1/${shipment?.quote}`, bearer)),
    );
    return deepJson(orders, known, byName(quotes), await tenant.origins);
  },
  '/typename': () => ({ __typename: 'Query' }),
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => resolve(text)).on('error', reject);
  });
}

const server = createServer(async (request, response) => {
  try {
    const { variables } = JSON.parse(await bodyOf(request));
    const answer = answers[request.url ?? ''];
    if (answer === undefined) return void response.writeHead(404).end();
    const data = await answer(request.headers.authorization ?? '', variables);
    const body = JSON.stringify({ data });
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ errors: [{ message: String(error) }] }));
  }
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), '127.0.0.1');

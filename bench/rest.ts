import { Pool } from 'undici';
import type { OrderJson, ShipmentJson } from '../src/rest/wire-schema.ts';

/** The basis of a hand-written REST client: JSON over connections that stay open, as in Waybill. */
export interface Rest {
  /** `GET /v1/{name}`, such as `orders/ca2500`. */
  record<Json>(name: string): Promise<Json>;
  /** The rows of one page of a list, such as `orders`. The name of the list is the last part of its path. */
  page<Json>(path: string, query: Query): Promise<Json[]>;
  /** The token of the page that follows this page. */
  tokenAfter(path: string, query: Query): Promise<string>;
  /** The rows of all pages, 1,000 at a time, or of the pages until `isEnough`. */
  all<Json>(path: string, isEnough?: (rows: readonly Json[]) => Promise<boolean>): Promise<Json[]>;
  close(): Promise<void>;
}

type Query = Record<string, string | number>;

export function createRest(url: string, bearer: string): Rest {
  const pool = new Pool(url, { connections: 64 });
  const headers = { authorization: `Bearer ${bearer}` };

  async function get(name: string, query: Query = {}): Promise<unknown> {
    const path = `/v1/${name}`;
    const { statusCode, body } = await pool.request({ method: 'GET', path, query, headers });
    if (statusCode !== 200) throw new Error(`Expected 200 from GET ${path}, but got ${statusCode}`);
    return body.json();
  }

  async function page<Json>(path: string, query: Query): Promise<{ rows: Json[]; nextPageToken: string }> {
    // The sandbox follows the REST interface.
    const answer = (await get(path, query)) as Record<string, Json[]> & { nextPageToken: string };
    const rows = answer[path.slice(path.lastIndexOf('/') + 1)];
    if (rows === undefined) throw new Error(`Expected a list from GET ${path}`);
    return { rows, nextPageToken: answer.nextPageToken };
  }

  return {
    // The sandbox follows the REST interface here too.
    record: async <Json>(name: string) => (await get(name)) as Json,
    page: async <Json>(path: string, query: Query) => (await page<Json>(path, query)).rows,
    tokenAfter: async (path, query) => (await page(path, query)).nextPageToken,
    async all<Json>(path: string, isEnough = async (_rows: readonly Json[]) => false) {
      const rows: Json[] = [];
      let pageToken: string | undefined;
      do {
        const answer = await page<Json>(path, { pageSize: 1000, ...(pageToken ? { pageToken } : {}) });
        rows.push(...answer.rows);
        pageToken = answer.nextPageToken;
      } while (pageToken && !(await isEnough(rows)));
      return rows;
    },
    close: () => pool.close(),
  };
}

/** Returns a function that finds a record by name. The function throws if no record has the name. */
export function byName<Json extends { name: string }>(
  rows: readonly Json[],
): (name: string | null | undefined) => Json {
  const known = new Map(rows.map((row) => [row.name, row]));
  return (name) => {
    const record = known.get(name ?? '');
    if (record === undefined) throw new Error(`Expected "${name}" among what REST answered`);
    return record;
  };
}

/** Finds the shipments of orders in a page of the newest shipments. Reads each missing shipment by id. */
export async function shipmentsOf(
  rest: Rest,
  orders: readonly OrderJson[],
  newest: readonly ShipmentJson[],
): Promise<(order: OrderJson) => ShipmentJson | undefined> {
  const listed = new Set(newest.map(({ name }) => name));
  const missing = orders.flatMap(({ shipment }) => (!shipment || listed.has(shipment) ? [] : [shipment]));
  const found = await Promise.all(missing.map((name) => rest.record<ShipmentJson>(name)));
  const shipmentNamed = byName([...newest, ...found]);
  return ({ shipment }) => (shipment ? shipmentNamed(shipment) : undefined);
}

import { requestText } from '../load.ts';
import { tenantWithLongLists, tokenOf } from '../tenants.ts';

/** What an attacker sends, and how. */
export interface Attack {
  connections: number;
  /** The requests that each connection sends at once. */
  pipelined: number;
  /** Whether each connection sends again after its responses, until the attack ends. */
  repeats: boolean;
  /** Whether the client reads its responses. */
  reads: boolean;
  /** The request with this number. */
  request(index: number): string;
}

const many = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

function post(token: string, query: string, variables: object = {}): string {
  const headers = ['content-type: application/json'];
  return requestText({ path: '/graphql', token, headers, body: JSON.stringify({ query, variables }) });
}

/** 1,000 orders with shipment and quote: the heaviest document that the server accepts. */
const heavy =
  '{ orders(first: 1000) { nodes { id status notes shipment { id status totalCost { cents } quote { id } } } } }';
/** Ids that are none, so that the operation waits for no call. */
const idsThatAreNone = `query($i: [ID!]!) { ${many(20, (n) => `a${n}: nodes(ids: $i) { id }`)} }`;
const idsOf = { i: Array.from({ length: 100 }, () => 'x') };
const emptyPages = `{ orders(first: 1000) { nodes { recipient { ${many(29, (n) => `a${n}: orders(first: 0, after: "x") { nodes { id } }`)} } } } }`;

type RequestOf = (token: string, index: number) => string;

/** The documents of the attacks that repeat. */
const documents: Record<string, RequestOf> = {
  'one document': (token) => post(token, heavy),
  'new documents': (token, index) => post(token, `query Q${index} ${heavy}`),
  'that wait for nothing': (token) => post(token, idsThatAreNone, idsOf),
};

/** Of weight 6, with a response of 49 KB. */
const smallIntrospection = `{ __type(name: "Node") { possibleTypes { fields { ${many(29, (n) => `a${n}: name`)} } } } }`;

/** A request without a token. */
const introspect = (query: string) =>
  requestText({
    path: '/graphql',
    headers: ['content-type: application/json'],
    body: JSON.stringify({ query }),
  });

const madeUp = (index: number) => `unknown-${index}-${process.pid}`;
const merchant = () => tokenOf(0);

interface Shape {
  connections: number;
  token(index: number): string;
  pipelined?: number;
  reads?: boolean;
}

const shapes: Record<string, Shape> = {
  '30 connections of made-up tokens': { connections: 30, token: madeUp },
  '480 connections of one token that read': { connections: 480, token: merchant },
  '480 connections of one token that do not read': { connections: 480, token: merchant, reads: false },
  '10 pipelines of 200 of one token': { connections: 10, token: merchant, pipelined: 200 },
  '10 pipelines of 200 of made-up tokens': { connections: 10, token: madeUp, pipelined: 200 },
};

function burst(connections: number, request: (index: number) => string): Attack {
  return { connections, pipelined: 1, repeats: false, reads: true, request };
}

const idsOfMadeUp = (index: number) => post(madeUp(index), idsThatAreNone, idsOf);
const emptyPagesOfMerchant = () => post(merchant(), emptyPages);

/** The attacks that are sent once in each try. */
export const bursts: Record<string, Attack> = {
  'no burst': burst(0, idsOfMadeUp),
  '100 requests with ids that are none, made-up tokens': burst(100, idsOfMadeUp),
  '500 requests with ids that are none, made-up tokens': burst(500, idsOfMadeUp),
  'one request with 29,000 empty pages': burst(1, emptyPagesOfMerchant),
  '12 requests with 29,000 empty pages': burst(12, emptyPagesOfMerchant),
  '100 introspections without a token': burst(100, () =>
    introspect('{ __schema { types { name description fields { name type { name } } } } }'),
  ),
};

/** An operation that reads 20 pages. Each has another time, because counts with an equal one are kept. */
const scan = (index: number, fields: string) =>
  post(tokenOf(tenantWithLongLists), `query($time: DateTime!) { ${fields} }`, {
    time: new Date(index * 60_000).toISOString(),
  });

const shipmentCounts = 'shipmentCounts(createdSince: $time) { total byStatus { status count } }';
const orderCounts = 'orderCounts(createdSince: $time) { total }';
/** The relation to shipments. With it, rows of their scan are kept while the operation has other calls. */
const toShipments = 'orders(first: 1) { nodes { shipment { status } } }';
const toOrders = 'shipments(first: 1) { nodes { order { status } } }';

const scans: Record<string, string> = {
  'that scan 20 pages': shipmentCounts,
  'that scan 20 pages, with a relation': `${shipmentCounts} ${toShipments}`,
  'that scan 20 pages of two lists, with relations': `${shipmentCounts} ${orderCounts} ${toShipments} ${toOrders}`,
  'that scan 20 pages for a filter without a match, with a relation':
    'shipments(createdUntil: $time) { nodes { order { shipment { status } } } }',
};

/** The attacks that go on while the probes wait. */
export const sieges: Record<string, Attack> = Object.fromEntries([
  ...[1, 16].flatMap((connections) =>
    Object.entries(scans).map(([what, fields]): [string, Attack] => [
      `one token with ${connections} at once ${what}`,
      { connections, pipelined: 1, repeats: true, reads: true, request: (index) => scan(index, fields) },
    ]),
  ),
  [
    '400 pipelines of 9 small introspections',
    {
      connections: 400,
      pipelined: 9,
      repeats: true,
      reads: true,
      request: () => introspect(smallIntrospection),
    },
  ],
  ...Object.entries(shapes).flatMap(([shape, { connections, token, pipelined = 1, reads = true }]) =>
    Object.entries(documents).map(([document, request]): [string, Attack] => [
      `${shape}, ${document}`,
      { connections, pipelined, repeats: true, reads, request: (index) => request(token(index), index) },
    ]),
  ),
]);

import { tenantWithEscapedNotes, tenantWithLongLists, tenantWithLongNotes, tokenOf } from '../tenants.ts';
import { largePost, lastPost, many, post, postInByteChunks } from './requests.ts';

/** What an attacker sends, and how. */
export interface Attack {
  connections: number;
  /** The request with this number, of a connection with this number. An empty one: the connection is the attack. */
  request(index: number, connection: number): string | Buffer;
  /** The requests that each connection sends at once. */
  pipelined: number;
  /**
   * What a connection does once its responses have begun: it sends again, reads on until the server closes it, breaks,
   * or ends its part of the attack. A closed connection is opened again, unless its part has ended.
   */
  next: 'sends again' | 'reads on' | 'breaks' | 'ends';
  /** The bytes that each connection reads in a second. 0: the client never reads. */
  bytesPerSecond: number;
  /** Whether each byte of a request is sent by itself. */
  isByteByByte: boolean;
  /** What is measured besides the probes: pages of 1,000 of another merchant, or the first answer to a new token. */
  beside?: 'pages' | 'new token';
}

const usual = {
  pipelined: 1,
  next: 'sends again',
  bytesPerSecond: Number.POSITIVE_INFINITY,
  isByteByByte: false,
} as const;

/** 1,000 orders with shipment and quote: the heaviest document that the server accepts. */
const heavy =
  '{ orders(first: 1000) { nodes { id status notes shipment { id status totalCost { cents } quote { id } } } } }';
/** Ids that are none, so that the operation waits for no call. */
const idsThatAreNone = `query($i: [ID!]!) { ${many(20, (n) => `a${n}: nodes(ids: $i) { id }`)} }`;
const idsOf = { i: Array.from({ length: 100 }, () => 'x') };
const emptyPages = `{ orders(first: 1000) { nodes { recipient { ${many(29, (n) => `a${n}: orders(first: 0, after: "x") { nodes { id } }`)} } } } }`;
const introspection = '{ __schema { types { name description fields { name type { name } } } } }';
/** Of weight 6, with a response of 49 KB. */
const smallIntrospection = `{ __type(name: "Node") { possibleTypes { fields { ${many(29, (n) => `a${n}: name`)} } } } }`;

const madeUp = (index: number) => `unknown-${index}-${process.pid}`;
const newDocument = (token: string | undefined, index: number) => post(token, `query Q${index} ${heavy}`);
const waitingForNothing = (token: string | undefined) => post(token, idsThatAreNone, idsOf);

function burst(connections: number, request: Attack['request']): Attack {
  return { ...usual, connections, next: 'ends', request };
}

/** The attacks that are sent once in each try. */
const bursts: Record<string, Attack> = {
  '100 requests with ids that are none, made-up tokens': burst(100, (index) =>
    waitingForNothing(madeUp(index)),
  ),
  '500 requests with ids that are none, made-up tokens': burst(500, (index) =>
    waitingForNothing(madeUp(index)),
  ),
  'one request with 29,000 empty pages': burst(1, () => post(tokenOf(0), emptyPages)),
  '12 requests with 29,000 empty pages': burst(12, () => post(tokenOf(0), emptyPages)),
  '100 introspections without a token': burst(100, () => post(undefined, introspection)),
};

const shipmentCounts = 'shipmentCounts(createdSince: $time) { total byStatus { status count } }';
const orderCounts = 'orderCounts(createdSince: $time) { total }';
/** The relation to shipments. With it, rows of their scan are kept while the operation has other calls. */
const toShipments = 'orders(first: 1) { nodes { shipment { status } } }';
const toOrders = 'shipments(first: 1) { nodes { order { status } } }';

/** Operations that read 20 pages. Each has another time, because counts with an equal one are kept. */
const scans: Record<string, string> = {
  'that scan 20 pages': shipmentCounts,
  'that scan 20 pages, with a relation': `${shipmentCounts} ${toShipments}`,
  'that scan 20 pages of two lists, with relations': `${shipmentCounts} ${orderCounts} ${toShipments} ${toOrders}`,
  'that scan 20 pages for a filter without a match, with a relation':
    'shipments(createdUntil: $time) { nodes { order { shipment { status } } } }',
};

const scanSieges = [1, 16].flatMap((connections) =>
  Object.entries(scans).map(([what, fields]): [string, Attack] => [
    `one token with ${connections} at once ${what}`,
    {
      ...usual,
      connections,
      request: (index) =>
        post(tokenOf(tenantWithLongLists), `query($time: DateTime!) { ${fields} }`, {
          time: new Date(index * 60_000).toISOString(),
        }),
    },
  ]),
);

type Shape = Pick<Attack, 'connections'> & Partial<Attack> & { token(index: number): string | undefined };

/** Clients that send any document. One token never repeats a document. */
const shapes: Record<string, Shape> = {
  '30 connections of made-up tokens': { connections: 30, token: madeUp },
  '480 connections of made-up tokens': { connections: 480, token: madeUp },
  '480 connections without a token': { connections: 480, token: () => undefined },
  '480 connections of one token that read': { connections: 480, token: () => tokenOf(0) },
  '480 connections of one token that do not read': {
    connections: 480,
    token: () => tokenOf(0),
    bytesPerSecond: 0,
  },
  '10 pipelines of 200 of one token': { connections: 10, token: () => tokenOf(0), pipelined: 200 },
  '10 pipelines of 200 of made-up tokens': { connections: 10, token: madeUp, pipelined: 200 },
};

const shapedSieges = Object.entries(shapes).flatMap(([shape, { token, ...attack }]) => {
  const documents: Record<string, (token: string | undefined, index: number) => string> = {
    ...(token(0) !== tokenOf(0) && { 'one document': (token) => post(token, heavy) }),
    'new documents': newDocument,
    'that wait for nothing': waitingForNothing,
  };
  return Object.entries(documents).map(([document, request]): [string, Attack] => [
    `${shape}, ${document}`,
    { ...usual, ...attack, request: (index) => request(token(index), index) },
  ]);
});

/** Each field of 1,000 orders once. */
const wholePage = `{ orders(first: 1000) { nodes { id createTime updateTime status contentDescription notes
  sellingPrice { cents currency } cashOnDelivery { cents currency } customerReliability
  customerBehavior { totalShipments deliveredShipments returnedShipments reliability }
  referenceId referenceGid referenceUrl paymentMethods fulfiller
  recipient { firstName lastName fullName document email phoneNumber
    address { regionCode administrativeArea locality addressLines organization } } } } }`;
/** A few percent below the bound of 8,388,608 characters, and of the weight of `MAX_NODES`. */
const largestAllowed = wholePage.replace('notes', 'notes a: notes b: notes');
const manyNotes = `{ orders(first: 1000) { nodes { ${many(29, (n) => `a${n}: notes`)} } } }`;

/** 29 searches, each of which finds the 20,000 orders of the merchant by the names of their recipients. */
const fuzzyReferences = (index: number) =>
  `{ ${many(29, (n) => `a${n}: orderByReference(referenceId: "a${index * 29 + n}") { id }`)} }`;

/** A siege of one merchant by several of its tokens, each with as many connections. */
function siege(
  { tenant = 0, tokens = 1, connections }: { tenant?: number; tokens?: number; connections: number },
  request: (token: string, index: number) => string,
  attack: Partial<Attack> = {},
): Attack {
  return {
    ...usual,
    connections,
    request: (index, connection) => request(tokenOf(tenant, connection % tokens), index),
    ...attack,
  };
}

const thirty = { tenant: tenantWithLongNotes, connections: 30 };
const sixAtOnce = { tenant: tenantWithLongNotes, tokens: 6, connections: 6 };
const readsOn = { next: 'reads on' } as const;
const slowReader = { ...readsOn, bytesPerSecond: 20_000, beside: 'pages' } as const;
const largest = (token: string) => lastPost(token, largestAllowed);

/** The attacks that go on while the probes wait. */
const sieges: Record<string, Attack> = {
  ...Object.fromEntries(scanSieges),
  'one token with 16 at once that read pages of 1,000': siege({ connections: 16 }, (token) =>
    post(token, wholePage),
  ),
  'ten tokens with 4 at once each that read pages of 1,000': siege({ tokens: 10, connections: 40 }, (token) =>
    post(token, wholePage),
  ),
  'one token with 16 at once that search 29 fuzzy references': siege(
    { tenant: tenantWithLongLists, connections: 16 },
    (token, index) => post(token, fuzzyReferences(index)),
  ),
  'ten tokens with 2 at once each that search 29 fuzzy references': siege(
    { tenant: tenantWithLongLists, tokens: 10, connections: 20 },
    (token, index) => post(token, fuzzyReferences(index)),
  ),
  '400 pipelines of 9 small introspections': {
    ...usual,
    connections: 400,
    pipelined: 9,
    request: () => post(undefined, smallIntrospection),
  },
  ...Object.fromEntries(shapedSieges),
  '30 readers of 20 KB a second of the largest response, one token': siege(thirty, largest, slowReader),
  '30 readers of 20 KB a second of the largest response, six tokens': siege(
    { ...thirty, tokens: 6 },
    largest,
    slowReader,
  ),
  '30 connections of six tokens that do not read the largest response': siege(
    { ...thirty, tokens: 6 },
    largest,
    { ...slowReader, bytesPerSecond: 0 },
  ),
  'six of the largest responses at once': siege(sixAtOnce, largest, readsOn),
  'six of the largest responses with escapes at once': siege(
    { ...sixAtOnce, tenant: tenantWithEscapedNotes },
    largest,
    readsOn,
  ),
  'six responses with 29 aliases of long notes at once': siege(
    sixAtOnce,
    (token) => lastPost(token, manyNotes),
    readsOn,
  ),
  '50 senders of single bytes': { ...usual, connections: 50, isByteByByte: true, request: largePost },
  '50 senders of chunks of one byte': { ...usual, connections: 50, request: postInByteChunks },
  'five busy tokens after a start': {
    ...usual,
    connections: 40,
    beside: 'new token',
    request: (index, connection) => newDocument(tokenOf(2 + (connection % 5)), index),
  },
  '500 new connections at a time, with a request each': {
    ...usual,
    connections: 500,
    next: 'breaks',
    request: () => post(undefined, '{ __typename }'),
  },
  '500 new connections at a time, without a request': {
    ...usual,
    connections: 500,
    next: 'breaks',
    request: () => '',
  },
};

/** All attacks by their names. */
export const attacks: Record<string, Attack> = { ...bursts, ...sieges };

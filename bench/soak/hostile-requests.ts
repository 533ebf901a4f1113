import type { Dispatcher } from 'undici';
import { look, outcomeOf, type Watch } from './answer.ts';
import { hostileConnections } from './hostile-connections.ts';
import { tenants, tokenOf } from './upstream.ts';

/** Where the server is, and what is watched for. */
export interface Target {
  url: URL;
  client: Dispatcher;
  watch: Watch;
}

/** What one request meant to do harm ended with. */
export type Attack = (target: Target, index: number) => Promise<string>;

interface Sent {
  body?: string | Buffer | null;
  token?: string | undefined;
  headers?: Record<string, string>;
  path?: string;
  method?: 'GET' | 'POST';
}

/** Sends it as a client of HTTP would, and looks at the answer. */
async function send({ client, watch }: Target, tenant: number | undefined, sent: Sent): Promise<string> {
  const { body = null, headers = {}, path = '/graphql', method = 'POST' } = sent;
  const token = 'token' in sent ? sent.token : tenant === undefined ? undefined : tokenOf(tenant);
  try {
    const answer = await client.request({
      method,
      path,
      body,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    const text = await answer.body.text();
    // An error may name the id that was asked for; the record itself has a note with the mark too.
    look(watch, answer.statusCode, text.replaceAll(/orders\/t\d+x2400 was/g, ''), tenant);
    return outcomeOf(answer.statusCode, text);
  } catch (error) {
    return `no answer: ${error instanceof Error && 'code' in error ? error.code : error}`;
  }
}

const asTenant = (sentOf: (index: number, mark: string) => Sent): Attack => {
  return (target, index) => {
    const tenant = index % tenants;
    return send(target, tenant, sentOf(index, `t${tenant}x`));
  };
};

const document = (query: string, variables: object = {}): Sent => ({
  body: JSON.stringify({ query, variables }),
});
const many = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => piece(n)).join(' ');

/** What is the same each time is made once, so that those who ask take less of the machine than the server. */
const always = (sent: Sent): Attack => asTenant(() => sent);

const faults = [
  'hang',
  'reset',
  'cut',
  'drip',
  'html',
  'page',
  'null',
  'array',
  'json',
  '400',
  '404',
  '429',
  '500',
  '503',
];

const ids = [
  '..',
  '../organizations/mine',
  '%2e%2e',
  'a?x=1',
  'a#b',
  'a\u0000',
  'x'.repeat(10_000),
  '\ud800',
  'couriers/a',
];

/** What is sent with harm in mind, by name. */
export const attacks: Record<string, Attack> = {
  'a depth of 2,000': always(document(`${'{ order '.repeat(2_000)}${'}'.repeat(2_000)}`)),
  'a depth of 20': always(
    document(`{ ${'node(id: "a") { ... on Order { recipient { orders { nodes '.repeat(5)} { id }`),
  ),
  '5,000 aliases': always(document(`{ ${many(5_000, (n) => `a${n}: __typename`)} }`)),
  'exponential fragments': always(
    document(
      `{ ...F0 } ${many(30, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F30 on Query { a }`,
    ),
  ),
  'too many nodes': always(
    document('{ orders(first: 1000) { nodes { recipient { orders(first: 1000) { nodes { id } } } } } }'),
  ),
  'no document': asTenant((index) => document(`}${index}{ "`)),
  'no field of the schema': asTenant((index) => document(`{ field${index} { a b c } }`)),
  'a document like no other': asTenant((index) =>
    document(`query Q${index} { order(id: "none${index}") { id ${' notes'.repeat(50)} } }`),
  ),
  'a hash like no other': asTenant((index) => ({
    body: JSON.stringify({
      extensions: { persistedQuery: { version: 1, sha256Hash: String(index).padStart(64, '0') } },
    }),
  })),
  'broken JSON': asTenant((index) => ({ body: `{"query":"{ a ${index}` })),
  'variables of a wrong type': asTenant((index) =>
    document('query A($v: ID!) { order(id: $v) { id } }', { v: { [`a${index}`]: [[[]]] } }),
  ),
  'a body of 2 MB': always({ body: Buffer.from(`{"query":"${'x'.repeat(2_000_000)}"}`) }),
  'a compressed body': always({ body: 'x', headers: { 'content-encoding': 'gzip' } }),
  'a form': always({
    body: 'query={a}',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  'an id that is none': asTenant((index) =>
    document('query A($v: ID!) { order(id: $v) { id } }', { v: ids[index % ids.length] }),
  ),
  "another tenant's id": asTenant((index) =>
    document(`{ order(id: "t${(index + 1) % tenants}x2400") { id notes } }`),
  ),
  'an unknown token': (target, index) =>
    send(target, undefined, {
      token: `unknown-${index}`,
      ...document('{ orders(first: 5) { nodes { id } } }'),
    }),
  'no token': (target) => send(target, undefined, document('{ orders(first: 5) { nodes { id } } }')),
  'a mutation that REST resets': asTenant((_index, mark) =>
    document(
      `mutation { updateOrder(input: { id: "fault-reset-${mark}", notes: "Ring twice" }) { __typename ... on UserError { message } } }`,
    ),
  ),
  ...Object.fromEntries(
    faults.map((fault) => [
      `REST's ${fault}`,
      asTenant((index) =>
        document(`{ order(id: "fault-${fault}-${index}") { id notes shipment { id } } organization { id } }`),
      ),
    ]),
  ),
  ...hostileConnections,
};

// What would leave something behind each time, if anything did, comes more often than the rest.
const leavesMost = [
  'an unknown token',
  'a document like no other',
  'a hash like no other',
  'gone in mid-query',
];

/** The names of all attacks, in the order of their turns. */
export const turns: readonly string[] = [
  ...Object.keys(attacks),
  ...Array.from({ length: 5 }, () => leavesMost).flat(),
];

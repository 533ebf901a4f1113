import type { RequestListener, ServerResponse } from 'node:http';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { openRaw, parseRaw, type RawConnection } from '../../fixtures/raw-http.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// One page is 4 MB of JSON. The query shows it twice, which is more than the buffers of two sockets hold.
const page = JSON.stringify({
  orders: Array.from({ length: 1_000 }, (_, index) => ({
    name: `orders/${index}`,
    notes: 'x'.repeat(4_000),
  })),
});
const heavyQuery =
  'query ($search: String!) { a: orders(first: 1000, search: $search) { nodes { notes } } b: orders(first: 1000, search: $search) { nodes { notes } } }';

/** The tokens whose responses were cut off. A paused client does not see that. */
const cutOff: (string | undefined)[] = [];
const noteCutOff =
  (app: RequestListener): RequestListener =>
  (request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) cutOff.push(request.headers.authorization);
    });
    app(request, response);
  };
// One token runs one such query at a time, and has 40 of the 80 requests and 48 of the 96 MB of unread bytes.
const waybill = await startApp(
  (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url?.startsWith('/v1/orders?') ? page : '{"name":"orders/small"}');
  },
  { GRAPHQL_REQUESTS_AT_ONCE: '80', MAX_NODES: '2000' },
  { unreadBytesAtOnce: 96_000_000, intercept: noteCutOff },
);
afterAll(() => waybill[Symbol.asyncDispose]());

/** Opens clients that read the start of their response, and no more. */
async function startClients(count: number, token: string): Promise<RawConnection[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const client = await openRaw(waybill);
      client.socket.once('data', () => client.socket.pause());
      const body = JSON.stringify({ query: heavyQuery, variables: { search: `${token} ${index}` } });
      client.socket.write(
        'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
          `authorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      return client;
    }),
  );
}

async function askSmall(token: string) {
  const response = await fetch(new URL('/graphql', waybill.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ order(id: "small") { id } }' }),
  });
  return { status: response.status, body: await response.json() };
}

const settle = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const pagesRead = () => waybill.calls().filter((line) => line.startsWith('GET /v1/orders?')).length;
const statusOf = (client: RawConnection) => parseRaw(client.received()).status;

test('clients that stop reading do not block clients with another token', async () => {
  // REST has accepted the token, so it has turns of its own.
  await askSmall('ana');
  const clients = await startClients(60, 'ana');
  const withStatus = (status: number) => clients.filter((client) => statusOf(client) === status);
  await until(() => withStatus(503).length > 0 && withStatus(200).length >= 4);
  const small = await askSmall('eva');
  expect(small).toMatchObject({ status: 200, body: { data: { order: { id: 'orders/small' } } } });

  const [refused] = withStatus(503);
  const { headers, body } = parseRaw(refused?.received() ?? '');
  expect(headers['retry-after']).toBe('1');
  expect(JSON.parse(body)).toEqual({
    errors: [
      {
        message: 'The server is at its limit of GraphQL requests for this token. Retry later.',
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
      },
    ],
  });

  // Six responses of 8 MB fill the part of the token.
  await settle(2_000);
  expect(withStatus(200).length).toBe(6);
  expect(pagesRead()).toBe(6);
  // There is room for others, so clients have 60 seconds to read.
  expect(cutOff).toEqual([]);

  // A second such token leaves no room. The clients that leave the most are then disconnected.
  const others = await startClients(20, 'ida');
  await until(() => cutOff.length > 0);
  expect((await askSmall('eva')).status).toBe(200);
  expect(cutOff).not.toContain('Bearer eva');

  // Operations whose client has gone leave the queue.
  const all = [...clients, ...others];
  for (const client of all) if (client.received() === '') client.socket.destroy();
  let pages: number;
  do {
    pages = pagesRead();
    await settle(500);
  } while (pagesRead() > pages);
  for (const { socket } of all) socket.destroy();
  await settle(500);
  expect(pagesRead()).toBe(pages);
  expect((await askSmall('ana')).status).toBe(200);
});

/** Sends 60 heavy requests with made-up tokens. Each costs tens of milliseconds and no REST call. */
function startAttack() {
  const fields = Array.from({ length: 15 }, (_, index) => `f${index}: nodes(ids: $ids) { id }`);
  const body = JSON.stringify({
    query: `query ($ids: [ID!]!) { ${fields.join(' ')} }`,
    variables: { ids: Array.from({ length: 100 }, () => 'x') },
  });
  let answered = 0;
  const responses = Array.from({ length: 60 }, async (_, index) => {
    const response = await fetch(new URL('/graphql', waybill.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer made-up-${index}` },
      body,
    });
    await response.text();
    answered += 1;
  });
  return { ended: Promise.all(responses), answered: () => answered };
}

test('fewer than 20 heavy requests run before 40 new connections get a response', async () => {
  const { ended, answered } = startAttack();
  await until(() => answered() > 0);
  const before = answered();
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      const client = await openRaw(waybill);
      client.socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n');
      await until(() => client.received() !== '');
      client.socket.destroy();
    }),
  );
  expect(answered() - before).toBeLessThan(20);
  await ended;
});

test('heavy requests of unknown tokens do not block health checks or accepted tokens', async () => {
  await askSmall('eva');
  const { ended, answered } = startAttack();
  await until(() => answered() > 0);
  const before = answered();
  expect((await fetch(new URL('/health/live', waybill.url))).status).toBe(200);
  const afterHealth = answered();
  expect((await askSmall('eva')).status).toBe(200);
  expect(afterHealth - before).toBeLessThan(15);
  expect(answered() - before).toBeLessThan(30);
  await ended;
});

test('a query with an accepted token runs while unknown tokens are at their limit', async () => {
  const held: ServerResponse[] = [];
  // Made-up tokens run 2 queries of 1,000 nodes, and have 30 of 40 requests.
  await using busy = await startApp(
    (request, response) => {
      const search = new URL(request.url ?? '', 'http://rest.test').searchParams.get('search');
      if (search === 'ana') response.end('{"orders":[],"nextPageToken":""}');
      else held.push(response);
    },
    { GRAPHQL_REQUESTS_AT_ONCE: '40', MAX_NODES: '1000', UPSTREAM_CONNECTIONS: '4' },
  );
  const search = async (text: string, token: string, first: number) => {
    const response = await fetch(new URL('/graphql', busy.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        query: `query ($search: String!) { orders(first: ${first}, search: $search) { nodes { id } } }`,
        variables: { search: text },
      }),
    });
    return { status: response.status, body: await response.json() };
  };
  await search('ana', 'ana', 1);
  // Each has a connection of its own, because all are open at the same time.
  let refused = 0;
  const attack = Array.from({ length: 35 }, async (_, index) => {
    const { status } = await search('held', `made-up-${index}`, 1_000);
    if (status === 503) refused += 1;
  });
  await until(() => held.length === 2 && refused === 5);
  // A heavy one as well.
  const answer = await search('ana', 'ana', 900);
  expect(answer).toEqual({ status: 200, body: { data: { orders: { nodes: [] } } } });
  expect([held.length, busy.calls().length]).toEqual([2, 4]);
  const letGo = setInterval(() => {
    for (const response of held.splice(0)) response.end('{"orders":[],"nextPageToken":""}');
  }, 10);
  await Promise.all(attack);
  clearInterval(letGo);
  // A refused request costs no call.
  expect(refused).toBe(5);
  expect(busy.calls()).toHaveLength(2 + 30);
});

test('introspections of the whole schema do not block health checks', async () => {
  let answered = 0;
  const introspect = async (index: number) => {
    const response = await fetch(new URL('/graphql', waybill.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `${getIntrospectionQuery()} # ${index % 2}` }),
    });
    answered += 1;
    return { status: response.status, body: await response.text() };
  };
  await introspect(0);
  const all = Promise.all(Array.from({ length: 40 }, (_, index) => introspect(index)));
  await until(() => answered > 1);
  const before = answered;
  expect((await fetch(new URL('/health/live', waybill.url))).status).toBe(200);
  expect(answered - before).toBeLessThan(15);
  for (const { status, body } of await all) {
    expect(status).toBe(200);
    expect(JSON.parse(body).errors).toBeUndefined();
  }
});

test('unread introspection responses do not block requests with a token', async () => {
  const made: ServerResponse[] = [];
  let lost = false;
  await using small = await startApp(
    (_request, response) => response.end('{"name":"organization/a"}'),
    { MAX_NODES: '30000' },
    {
      unreadBytesAtOnce: 1_000_000,
      intercept: (app) => (request, response) => {
        made.push(response);
        response.once('close', () => {
          lost ||= !response.writableFinished;
        });
        app(request, response);
      },
    },
  );
  const post = (query: string, authorization?: string) =>
    fetch(new URL('/graphql', small.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ query }),
    });
  // Ten responses of 1 MB, more than the system's buffers on both sides take.
  const schemas = Array.from({ length: 25 }, (_, index) => `a${index}: __schema { ...Types }`).join(' ');
  const introspection = `{ ${schemas} } fragment Types on __Schema {
    types { description fields { name description args { name description } } }
  }`;
  const client = await openRaw(small);
  client.socket.pause();
  const body = JSON.stringify({ query: introspection });
  const request = `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  client.socket.write(request.repeat(10));
  // The buffers on both sides take some responses.
  await until(() => made.some(({ headersSent, writableFinished }) => headersSent && !writableFinished));
  await settle(100);
  // Those without a token may wait together, until the client that reads nothing loses its connection.
  const introspected = post(introspection);
  const other = await post('{ organization { id } }', 'Bearer ana');
  expect(await other.json()).toEqual({ data: { organization: { id: 'organization/a' } } });
  const answer = await introspected;
  expect([answer.status, (await answer.json()).errors]).toEqual([200, undefined]);
  await until(() => lost);
});

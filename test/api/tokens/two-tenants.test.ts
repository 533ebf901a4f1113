import type { IncomingMessage } from 'node:http';
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { order } from '../../fixtures/order-to-create.ts';
import { randomNumbers } from '../../fixtures/query-generator.ts';
import type { Answer } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const rounds = 1_000;
const atOnce = 25;

/** Two tokens, and what REST says of each, as it may be known by more than the token itself. */
const marks = { 'token-of-ana': 'CAFETAL', 'token-of-eva': 'TRAPICHE' } as const;
type Token = keyof typeof marks;
const tokens: readonly Token[] = ['token-of-ana', 'token-of-eva'];

function tokenOf({ headers }: IncomingMessage): Token {
  const token = tokens.find((known) => headers.authorization === `Bearer ${known}`);
  if (token === undefined) throw new Error(`nobody's token: ${headers.authorization}`);
  return token;
}

/** Answers each token with records of the same names as the other's, which say whose they are. */
function answerAs(random: () => number): Answer {
  return (request, response) => {
    const token = tokenOf(request);
    const echo = `${token} ${marks[token]}`;
    const { pathname } = new URL(request.url ?? '', 'http://rest.test');
    const path = pathname.replace('/v1/', '');
    const recipient = { firstName: echo, phoneNumber: '+573001112233', location: 'locations/a' };
    const orderNamed = (name: string) => ({
      name,
      shipment: `shipments/${name.slice('orders/'.length)}`,
      contentDescription: echo,
      notes: echo,
      recipient,
    });
    const shipmentNamed = (name: string) => ({ name, origin: 'origins/a', status: 'DELIVERED', recipient });
    const lists: Record<string, object[]> = {
      orders: ['1', '2', '3', '4', '5', '6'].map((id) => orderNamed(`orders/${id}`)),
      shipments: ['1', '2', '3', '4', '5', '6'].map((id) => shipmentNamed(`shipments/${id}`)),
      origins: [{ name: 'origins/a', location: 'locations/a', address: { addressLines: [echo] } }],
      locations: [{ name: 'locations/a', address: { locality: echo, administrativeArea: echo } }],
      channels: [{ name: 'channels/a', type: echo, active: true }],
      'channels/a/templates': [{ name: 'saludo', language: 'es', footer: echo }],
    };
    const list = request.method === 'GET' ? lists[path] : undefined;
    const answers: [RegExp, () => object][] = [
      [/^orders$/, () => orderNamed('orders/7')],
      [/^orders\/broken$/, () => ({ error: { message: `not for ${echo}` } })],
      [/^orders\//, () => orderNamed(path)],
      [/^shipments\//, () => shipmentNamed(path)],
      [/^organizations\/mine$/, () => ({ name: `organization/${marks[token]}` })],
    ];
    const json =
      list === undefined
        ? answers.find(([pattern]) => pattern.test(path))?.[1]()
        : { [path.split('/').at(-1) ?? '']: list };
    const status = json === undefined ? 404 : path === 'orders/broken' ? 409 : 200;
    // In another order than they came in.
    setTimeout(() => response.writeHead(status).end(JSON.stringify(json ?? {})), random() * 4);
  };
}

/** What both ask, word for word the same. */
const broken = { query: '{ order(id: "broken") { id } organization { id } }' };
const requests: { query: string; variables?: object }[] = [
  broken,
  { query: '{ organization { id } }' },
  {
    query: '{ order(id: "1") { id contentDescription notes recipient { firstName location { locality } } } }',
  },
  {
    query: `{ orders(first: 6) { nodes { id contentDescription
      shipment { id recipient { firstName } origin { address { addressLines } location { locality } } } } } }`,
  },
  {
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Shipment { recipient { firstName } } } }',
    variables: { ids: ['1', '2', '3', '4', '5', '6'].map((id) => `shipments/${id}`) },
  },
  { query: '{ origins { nodes { id address { addressLines } } } locations { nodes { id locality } } }' },
  { query: '{ location(id: "a") { id locality administrativeArea } }' },
  { query: '{ channels { nodes { type templates { nodes { name footer } } } } }' },
  {
    query: `mutation ($input: UpdateOrderInput!) { updateOrder(input: $input) {
      ... on UpdateOrderSuccess { order { id contentDescription shipment { recipient { firstName } } } } } }`,
    variables: { input: { id: 'orders/1', notes: 'Para las dos' } },
  },
  {
    // Under the same key.
    query: `mutation ($input: CreateOrderInput!) { createOrder(input: $input) {
      ... on CreateOrderSuccess { order { id contentDescription recipient { location { locality } } } } } }`,
    variables: { input: { ...order, idempotencyKey: 'the same for both' } },
  },
];

test('two tokens with concurrent equal queries never share data', async () => {
  const random = randomNumbers(20_261_121);
  // Pages are kept for as long as the test takes, and what is done under a key for longer.
  await using waybill = await startApp(answerAs(random), { REFERENCE_DATA_MS: '60000' });
  let cached = 0;

  async function ask(token: Token, request: object): Promise<void> {
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-upstream-cost': '1',
      },
      body: JSON.stringify(request),
    });
    const body = await response.text();
    for (const other of tokens.filter((known) => known !== token)) {
      expect(body).not.toContain(other);
      expect(body).not.toContain(marks[other]);
    }
    expect(body).toContain(marks[token]);
    const { errors, extensions } = JSON.parse(body);
    const message = `GET /v1/orders/broken returned 409: not for <access token> ${marks[token]}`;
    expect(errors?.map((error: Error) => error.message)).toEqual(request === broken ? [message] : undefined);
    cached += extensions.upstream.cached;
  }

  const limit = pLimit(atOnce);
  await limit.map(Array.from({ length: rounds }), async () => {
    const request = requests[Math.floor(random() * requests.length)] ?? {};
    // Each asks more than once.
    const askers = random() < 0.5 ? [...tokens, ...tokens] : [...tokens].reverse();
    await Promise.all(askers.map((token) => ask(token, request)));
  });

  expect(waybill.reported).toEqual([]);
  // It says something only if much was kept.
  expect(cached).toBeGreaterThan(50);
});

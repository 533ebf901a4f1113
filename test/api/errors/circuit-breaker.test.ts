import { expect, test, vi } from 'vitest';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const query = '{ order(id: "7") { fulfiller } }';
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };
const call = 'GET /v1/orders/7';

/** Fails the calls of those whom it is told to. */
function failingFor(bearers: Set<string>, fault: Answer = answerJson({}, 503)): Answer {
  return (request, response, body) => {
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (bearers.has(bearer)) return fault(request, response, body);
    if (request.method !== 'GET') return answerJson({}, 500)(request, response, body);
    return answerJson({ name: 'orders/7', fulfiller: 'OPERATOR' })(request, response, body);
  };
}

test('the circuit opens for all tenants if the calls of several tenants fail', async () => {
  await using waybill = await startApp(failingFor(new Set(['ana', 'eva'])));
  for (let time = 0; time < 10; time += 1) {
    await waybill.ask(query, 'ana');
    await waybill.ask(query, 'eva');
  }
  expect(waybill.calls()).toEqual(Array.from({ length: 20 }, () => call));
  expect(await waybill.ask(query, 'ida')).toEqual({
    data: { order: null },
    errors: [
      {
        message: `${call} was not sent: most of the recent calls of this kind failed`,
        path: 'order',
        code: 'UPSTREAM_CIRCUIT_OPEN',
        retryable: true,
        retryAfterMs: expect.any(Number),
      },
    ],
  });
  expect(waybill.calls()).toHaveLength(20);
});

test('many shipments cost one list call while the circuit for GETs by id is open', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `${index}`);
  await using waybill = await startApp((request, response, body) => {
    if (!request.url?.startsWith('/v1/orders?')) return answerJson({}, 503)(request, response, body);
    const orders = names.map((name) => ({ name: `orders/${name}`, shipment: `shipments/${name}` }));
    return answerJson({ orders })(request, response, body);
  });
  for (let time = 0; time < 10; time += 1) {
    for (const bearer of ['ana', 'eva']) await waybill.ask('{ shipment(id: "7") { status } }', bearer);
  }
  const before = waybill.calls().length;
  const { errors } = await waybill.ask('{ orders(first: 30) { nodes { shipment { status } } } }', 'ida');
  expect(errors?.map(({ code }) => code)).toEqual(names.map(() => 'UPSTREAM_UNAVAILABLE'));
  expect(waybill.calls().slice(before)).toEqual([
    'GET /v1/orders?pageSize=30',
    'GET /v1/shipments?pageSize=60',
  ]);
});

test('shipments are read by id while the circuit for the list of shipments is open', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `${index}`);
  await using waybill = await startApp((request, response, body) => {
    if (request.url?.startsWith('/v1/shipments?')) return answerJson({}, 503)(request, response, body);
    const orders = names.map((name) => ({ name: `orders/${name}`, shipment: `shipments/${name}` }));
    const record = { name: request.url?.replace('/v1/', ''), status: 'DELIVERED' };
    const json = request.url?.startsWith('/v1/orders?') ? { orders } : record;
    return answerJson(json)(request, response, body);
  });
  const list = '{ shipments(first: 2) { nodes { status } } }';
  const board = '{ orders(first: 30) { nodes { shipment { status } } } }';
  for (let time = 0; time < 10; time += 1)
    for (const bearer of ['ana', 'eva']) await waybill.ask(list, bearer);
  expect((await waybill.ask(list, 'ida')).errors).toMatchObject([{ code: 'UPSTREAM_CIRCUIT_OPEN' }]);
  const before = waybill.calls().length;
  expect(await waybill.ask('{ shipment(id: "7") { status } }', 'ida')).toEqual({
    data: { shipment: { status: 'DELIVERED' } },
    errors: undefined,
  });
  // The first batch finds out that the list alone is in trouble.
  const first = await waybill.ask(board, 'ida');
  expect(first.errors?.map(({ code }) => code)).toEqual(names.slice(1).map(() => 'UPSTREAM_CIRCUIT_OPEN'));
  expect(waybill.calls().slice(before)).toEqual([
    'GET /v1/shipments/7',
    'GET /v1/orders?pageSize=30',
    'GET /v1/shipments/15',
  ]);
  expect(await waybill.ask(board, 'ida')).toEqual({
    data: { orders: { nodes: names.map(() => ({ shipment: { status: 'DELIVERED' } })) } },
    errors: undefined,
  });
  expect(
    waybill
      .calls()
      .slice(before + 4)
      .sort(),
  ).toEqual(names.map((name) => `GET /v1/shipments/${name}`).sort());
});

test.each<[string, Record<string, string>, () => RequestInit]>([
  ['the operation times out', { OPERATION_TIMEOUT_MS: '2000' }, () => ({})],
  ['the client disconnects', {}, () => ({ signal: AbortSignal.timeout(2_200) })],
])('calls count as failures if they hang until %s', async (_what, environment, init) => {
  await using waybill = await startApp(() => {}, environment);
  const bearers = Array.from({ length: 20 }, (_, index) => `token-${index}`);
  await Promise.allSettled(bearers.map((bearer) => waybill.ask(query, bearer, init())));
  // What ends the calls comes after the answers.
  await expect
    .poll(
      async () =>
        (await waybill.ask(query, 'ida', { signal: AbortSignal.timeout(300) }).catch(() => undefined))
          ?.errors,
    )
    .toMatchObject([{ code: 'UPSTREAM_CIRCUIT_OPEN' }]);
});

test('calls that the client aborts early do not open the circuit', async () => {
  await using waybill = await startApp(() => {});
  const bearers = Array.from({ length: 20 }, (_, index) => `token-${index}`);
  const gone = new AbortController();
  const asked = Promise.allSettled(
    bearers.map((bearer) => waybill.ask(query, bearer, { signal: gone.signal })),
  );
  await until(() => waybill.calls().length === 20);
  gone.abort();
  await asked;
  const last = new AbortController();
  const answer = waybill.ask(query, 'ida', { signal: last.signal }).catch(() => undefined);
  await until(() => waybill.calls().length === 21);
  last.abort();
  await answer;
});

test('failing calls of a single tenant do not open the circuit', async () => {
  await using waybill = await startApp(failingFor(new Set(['ana'])));
  for (let time = 0; time < 60; time += 1) await waybill.ask(query, 'ana');
  expect(await waybill.ask(query, 'eva')).toEqual(whole);
  expect((await waybill.ask(query, 'ana')).errors).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE' }]);
  expect(waybill.calls()).toHaveLength(62);
});

test.each([400, 401, 403, 404, 409, 429, 501])(
  'responses with the status %d do not open the circuit',
  async (status) => {
    await using waybill = await startApp(failingFor(new Set(['ana', 'eva']), answerJson({}, status)));
    for (let time = 0; time < 15; time += 1) {
      await waybill.ask(query, 'ana');
      await waybill.ask(query, 'eva');
    }
    expect(await waybill.ask(query, 'ida')).toEqual(whole);
    expect(waybill.calls()).toHaveLength(31);
  },
);

test('an open circuit for one endpoint does not block other endpoints', async () => {
  await using waybill = await startApp((request, response, body) => {
    const json = request.url?.startsWith('/v1/orders')
      ? { name: 'orders/7', fulfiller: 'OPERATOR' }
      : undefined;
    return (json === undefined ? answerJson({}, 503) : answerJson(json))(request, response, body);
  });
  for (let time = 0; time < 12; time += 1) {
    for (const bearer of ['ana', 'eva']) await waybill.ask('{ shipment(id: "7") { status } }', bearer);
  }
  expect((await waybill.ask('{ shipment(id: "7") { status } }', 'ida')).errors).toMatchObject([
    { code: 'UPSTREAM_CIRCUIT_OPEN' },
  ]);
  expect(await waybill.ask(query, 'ida')).toEqual(whole);
});

test('a label request gets Retry-After while the circuit is open', async () => {
  await using waybill = await startApp(failingFor(new Set(['ana', 'eva', 'ida'])));
  const label = (bearer: string) =>
    waybill.fetch('/labels/7.pdf', { headers: { authorization: `Bearer ${bearer}` } });
  for (let time = 0; time < 10; time += 1) for (const bearer of ['ana', 'eva']) await label(bearer);
  const response = await label('ida');
  expect([response.status, response.headers.get('retry-after')]).toEqual([
    503,
    expect.stringMatching(/^[1-5]$/),
  ]);
  expect(await response.json()).toMatchObject({
    errors: [{ extensions: { code: 'UPSTREAM_CIRCUIT_OPEN' } }],
  });
  expect(waybill.calls()).toHaveLength(20);
});

test('a write is not sent while the circuit of its endpoint is open', async () => {
  await using waybill = await startApp((request, response, body) => {
    const isWrite = request.method === 'POST';
    return answerJson({ name: 'organization/1' }, isWrite ? 500 : 200)(request, response, body);
  });
  const writes = () => waybill.calls().filter((line) => line.startsWith('POST'));
  const send = (key: string) => `mutation {
    sendMessage(input: {
      conversation: "channels/1/conversations/2", content: { text: "a" }, idempotencyKey: "${key}"
    }) { __typename }
  }`;
  for (let time = 0; time < 10; time += 1) {
    // The tokens are of one merchant, so each request has a key of its own.
    for (const bearer of ['ana', 'eva']) await waybill.ask(send(`${bearer}-${time}`), bearer);
  }
  expect(writes()).toHaveLength(20);
  for (let time = 0; time < 2; time += 1) {
    expect((await waybill.ask(send('mine'), 'ida')).errors).toMatchObject([
      { path: 'sendMessage', code: 'UPSTREAM_CIRCUIT_OPEN', retryable: true },
    ]);
  }
  expect(writes()).toHaveLength(20);
});

test('a half-open circuit sends only one call as a probe', async () => {
  const held: (() => void)[] = [];
  let isBack = false;
  await using waybill = await startApp((request, response, body) => {
    if (!isBack) return answerJson({}, 503)(request, response, body);
    const finish = () => answerJson({ name: 'orders/7', fulfiller: 'OPERATOR' })(request, response, body);
    return held.length === 0 ? held.push(finish) : finish();
  });
  for (let time = 0; time < 10; time += 1)
    for (const bearer of ['ana', 'eva']) await waybill.ask(query, bearer);
  const before = waybill.calls().length;
  isBack = true;
  // The pause of an open circuit.
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 5_100);
  const probe = waybill.ask(query, 'ida');
  await until(() => held.length === 1);
  const { errors } = await waybill.ask(query, 'eva');
  expect(errors).toMatchObject([{ code: 'UPSTREAM_CIRCUIT_OPEN', retryable: true }]);
  expect(waybill.calls().slice(before)).toEqual([call]);
  held[0]?.();
  expect(await probe).toEqual(whole);
  expect(await waybill.ask(query, 'eva')).toEqual(whole);
});

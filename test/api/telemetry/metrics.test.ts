import { describe, expect, test } from 'vitest';
import { metricsListener } from '../../../src/server/routes/metrics.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { listen } from '../../fixtures/listen.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const telemetryOf = (log = silentLog) => startTelemetry({ metrics: true, tracing: false }, log);

/** What a page shows of Waybill, without times, the sizes of batches, and what is 0. */
async function countsOf({ page }: Pick<Metrics, 'page'>) {
  return countsIn((await page()).body);
}

function countsIn(page: string) {
  const lines = page.split('\n').filter((line) => line.startsWith('waybill_'));
  const counts = lines.map((line): [string, number] => {
    const [, name = '', value = ''] = /^waybill_(.*) (\S+)$/.exec(line) ?? [];
    return [name.replace(/(_seconds)?_count|_total/, ''), Number(value)];
  });
  return Object.fromEntries(counts.filter(([name, value]) => value !== 0 && !/_(sum|bucket)\b/.test(name)));
}

const post = (query: string, signal?: AbortSignal): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
  body: JSON.stringify({ query }),
  ...(signal && { signal }),
});

describe('the metrics', () => {
  test('count operations, errors and REST calls by their labels', async () => {
    const telemetry = await telemetryOf();
    await using waybill = await startWaybill({}, { telemetry });
    await waybill.ask('query Named { organization { id } }');
    await waybill.ask('{ organization { id } }', {}, 'unknown');
    await waybill.ask('{ organization { id } }', {}, null);
    await waybill.ask('{ nothing }');
    await waybill.ask('{');
    await waybill.ask('{ order(id: "orders/ca2500") { id } gone: order(id: "orders/zz1") { id } }');
    await waybill.ask(
      'mutation { sendMessageToPhone(input: { channel: "channels/x", phone: "1", name: "a", text: "b" }) { __typename } }',
    );
    expect(await countsOf(await metricsOf(telemetry))).toEqual({
      documents_parsed: 6,
      'operation_duration{type="query",outcome="ok"}': 2,
      'operation_duration{type="query",outcome="errors"}': 1,
      'operation_duration{type="query",outcome="refused"}': 1,
      'operation_duration{type="none",outcome="refused"}': 2,
      'operation_duration{type="mutation",outcome="ok"}': 1,
      'errors{code="UNAUTHENTICATED"}': 2,
      'errors{code="GRAPHQL_VALIDATION_FAILED"}': 1,
      'errors{code="GRAPHQL_PARSE_FAILED"}': 1,
      'rest_call_duration{method="GET",route="/v1/organizations/mine",status="200"}': 1,
      'rest_call_duration{method="GET",route="/v1/organizations/mine",status="401"}': 1,
      'rest_call_duration{method="POST",route="/v1/channels/{id}/messages",status="400"}': 1,
      'rest_call_duration{method="GET",route="/v1/orders/{id}",status="200"}': 1,
      'rest_call_duration{method="GET",route="/v1/orders/{id}",status="404"}': 1,
      'batch_size{kind="orders"}': 1,
      'batches{kind="orders",way="gets"}': 1,
    });
  });

  test.each([
    [
      'its cost exceeds the limit',
      '{ orders(first: 1000) { nodes { recipient { orders(first: 100) { nodes { id } } } } } }',
      {},
    ],
    [
      '`first` exceeds the limit',
      'query ($first: Int!) { orders(first: $first) { nodes { id } } }',
      { first: 1_001 },
    ],
    ['a variable is missing', 'query ($first: Int!) { orders(first: $first) { nodes { id } } }', {}],
    [
      'a variable has the wrong type',
      'mutation ($input: UpdateOrderInput!) { updateOrder(input: $input) { __typename } }',
      { input: 7 },
    ],
  ])('count an operation as refused if %s', async (_how, query, variables) => {
    const telemetry = await telemetryOf();
    await using waybill = await startWaybill({}, { telemetry });
    const { calls, errors } = await waybill.ask(query, variables);
    expect([calls, errors?.length]).toEqual([[], 1]);
    const type = query.startsWith('mutation') ? 'mutation' : 'query';
    expect(await countsOf(await metricsOf(telemetry))).toMatchObject({
      [`operation_duration{type="${type}",outcome="refused"}`]: 1,
    });
  });

  test('count labels by outcome', async () => {
    const telemetry = await telemetryOf();
    await using waybill = await startWaybill({}, { telemetry });
    const headers = { authorization: `Bearer ${waybill.sandbox.tokens.first}` };
    await (await waybill.fetch('/labels/ca0001.pdf', { headers })).arrayBuffer();
    await (await waybill.fetch('/labels/none.pdf', { headers })).arrayBuffer();
    expect(await countsOf(await metricsOf(telemetry))).toEqual({
      'label_duration{outcome="ok"}': 1,
      'label_duration{outcome="refused"}': 1,
      'errors{code="NOT_FOUND"}': 1,
      'rest_call_duration{method="GET",route="/v1/shipments/{id}/label",status="200"}': 1,
      'rest_call_duration{method="GET",route="/v1/shipments/{id}/label",status="404"}': 1,
    });
  });

  test('count batches, prefetched pages and saved calls', async () => {
    const telemetry = await telemetryOf();
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' }, { telemetry });
    for (let times = 0; times < 2; times += 1) {
      await waybill.ask('{ orders(first: 40) { nodes { shipment { status } } } channels { nodes { id } } }');
    }
    const counts = await countsOf(await metricsOf(telemetry));
    expect(counts).toMatchObject({
      'batches{kind="shipments",way="page"}': 2,
      'batch_size{kind="shipments"}': 2,
      'prefetched_pages{kind="shipments",event="asked"}': 1,
      'prefetched_pages{kind="shipments",event="used"}': 1,
      'rest_calls_saved{by="reference"}': 1,
    });
    expect(counts['rest_calls_saved{by="list"}']).toBeGreaterThan(20);
  });

  test('count the requests and the REST calls in flight', async () => {
    const telemetry = await telemetryOf();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer: Answer = async (...exchange) => {
      await released;
      return answerJson({ name: 'organization/1', balanceCents: 0, creditLimitCents: 0 })(...exchange);
    };
    await using waybill = await startApp(answer, {}, { telemetry });
    const ask = (query: string) =>
      Promise.resolve(waybill.fetch('/graphql', post(query))).then((told) => told.text());
    const asked = ['{ organization { id } }', '{ organization { id } }'].map(ask);
    await until(() => waybill.service.requests.length === 2);
    const metrics = await metricsOf(telemetry);
    expect(await countsOf(metrics)).toEqual({
      documents_parsed: 1,
      'requests_in_flight{route="graphql"}': 2,
      rest_calls_in_flight: 2,
    });
    release();
    await Promise.all(asked);
    expect(await countsOf(metrics)).toEqual({
      documents_parsed: 1,
      'operation_duration{type="query",outcome="ok"}': 2,
      'rest_call_duration{method="GET",route="/v1/organizations/mine",status="200"}': 2,
    });
  });

  test('count retries of REST calls', async () => {
    const telemetry = await telemetryOf();
    let calls = 0;
    const answer: Answer = (...exchange) => {
      calls += 1;
      const organization = { name: 'organization/1', balanceCents: 0, creditLimitCents: 0 };
      return answerJson(organization, calls === 1 ? 503 : 200)(...exchange);
    };
    await using waybill = await startApp(answer, { UPSTREAM_RETRIES: '1' }, { telemetry });
    await (await waybill.fetch('/graphql', post('{ organization { id } }'))).text();
    expect(await countsOf(await metricsOf(telemetry))).toMatchObject({
      'rest_call_duration{method="GET",route="/v1/organizations/mine",status="200"}': 1,
      'rest_retries{method="GET",route="/v1/organizations/mine"}': 1,
    });
  });

  test('count the operation of a disconnected client as aborted', async () => {
    const telemetry = await telemetryOf();
    const { log, lines } = recordedLog();
    await using waybill = await startApp(() => {}, {}, { telemetry, log });
    const client = new AbortController();
    const gone = fetch(new URL('/graphql', waybill.url), post('{ organization { id } }', client.signal));
    await until(() => waybill.service.requests.length === 1);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    const metrics = await metricsOf(telemetry);
    await until(() => lines().length === 1);
    expect(await countsOf(metrics)).toEqual({
      documents_parsed: 1,
      'operation_duration{type="query",outcome="aborted"}': 1,
      'errors{code="REQUEST_ABORTED"}': 1,
      'rest_call_duration{method="GET",route="/v1/organizations/mine",status="aborted"}': 1,
    });
  });

  test('show open circuit breakers and waiting calls', async () => {
    const metrics = createMetrics();
    let open = ['GET /v1/orders'];
    metrics.showOpenCircuits(() => open);
    metrics.showCallsWaiting(() => 7);
    expect(await countsOf(metrics)).toEqual({
      'rest_circuit_open{kind="GET /v1/orders"}': 1,
      rest_calls_waiting: 7,
    });
    open = [];
    expect(await countsOf(metrics)).toEqual({ rest_calls_waiting: 7 });
  });

  test('count each difference from the REST interface, even if it was logged before', async () => {
    const { log, lines } = recordedLog('warn');
    const telemetry = await telemetryOf(log);
    const answer = answerJson({ name: 'organization/1', balanceCents: '7', nick: 'x' });
    await using waybill = await startApp(answer, {}, { telemetry });
    for (const query of ['{ organization { id } }', '{ organization { name: id } }']) {
      await (await waybill.fetch('/graphql', post(query))).text();
    }
    expect(await countsOf(await metricsOf(telemetry))).toMatchObject({
      'rest_drift{coordinate="Organization.balanceCents",kind="wrong type"}': 2,
      'rest_drift{coordinate="Organization.creditLimitCents",kind="missing"}': 2,
      'rest_drift{coordinate="Organization.*",kind="unknown field"}': 2,
    });
    const told = { level: 'warn', msg: 'a REST record differs from the REST interface' };
    expect(lines()).toEqual([
      { ...told, coordinate: 'Organization.balanceCents', drift: 'wrong type' },
      { ...told, coordinate: 'Organization.creditLimitCents', drift: 'missing' },
      { ...told, coordinate: 'Organization.nick', drift: 'unknown field' },
    ]);
  });

  test('include the process and its event loop', async () => {
    const { body } = await createMetrics().page();
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(body).toMatch(/^process_cpu_seconds_total /m);
  });
});

describe('the metrics page', () => {
  test('is sent for GET and HEAD without an access token', async () => {
    const telemetry = await telemetryOf();
    await using waybill = await startWaybill({}, { telemetry });
    const response = await waybill.fetch('/metrics');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(countsIn(await response.text())).toEqual({ 'requests_in_flight{route="other"}': 1 });
    expect((await waybill.fetch('/metrics', { method: 'HEAD' })).status).toBe(200);
    expect((await waybill.fetch('/metrics', { method: 'POST' })).status).toBe(404);
    expect((await waybill.fetch('/metrics/all')).status).toBe(404);
    expect(waybill.sandbox.requests.lines()).toEqual([]);
  });

  test('is 404 if metrics are off', async () => {
    await using waybill = await startWaybill();
    expect((await waybill.fetch('/metrics')).status).toBe(404);
  });

  test('and /health/live are the only routes on a separate port', async () => {
    const listener = await listen(metricsListener(createMetrics()), '127.0.0.1', 0);
    try {
      const response = await fetch(new URL('/metrics?name[]=x', listener.url));
      expect([response.status, countsIn(await response.text())]).toEqual([200, {}]);
      const head = await fetch(new URL('/metrics', listener.url), { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      const live = await fetch(new URL('/health/live', listener.url));
      expect([live.status, await live.json()]).toEqual([200, { status: 'live' }]);
      for (const path of ['/graphql', '/health/ready'])
        expect((await fetch(new URL(path, listener.url))).status).toBe(404);
      for (const path of ['/metrics', '/health/live'])
        expect((await fetch(new URL(path, listener.url), { method: 'POST' })).status).toBe(404);
    } finally {
      await listener.close();
    }
  });

  test('has no token, GraphQL document, personal data or input', async () => {
    const canary = 'canary573195550142';
    const telemetry = await telemetryOf();
    const record = { name: `orders/${canary}`, status: canary, notes: canary, [`${canary}@example.com`]: 1 };
    await using waybill = await startApp(answerJson({ ...record, orders: [record] }), {}, { telemetry });
    const queries = [
      `query ${canary} { order(id: "${canary}") { notes } }`,
      `{ orders(search: "${canary}") { nodes { status } } }`,
      `{ ${canary} }`,
      `{ order(id: "../${canary}") { id } }`,
      `"${canary}`,
    ];
    for (const query of queries) {
      const init = post(query);
      const headers = { ...init.headers, authorization: `Bearer ${canary}`, 'x-request-id': canary };
      await (await waybill.fetch(`/graphql?${canary}`, { ...init, headers })).text();
    }
    const label = { headers: { authorization: `Bearer ${canary}` } };
    await (await waybill.fetch(`/labels/${canary}.pdf`, label)).text();
    await (await waybill.fetch(`/${canary}`, label)).text();
    const { body } = await (await metricsOf(telemetry)).page();
    expect(body).toMatch(/outcome="ok"/);
    expect(body).not.toMatch(/canary|57319555/);
  });
});

async function metricsOf({ metrics }: { metrics: Metrics | undefined }): Promise<Metrics> {
  if (metrics === undefined) throw new Error('expected telemetry that counts');
  return metrics;
}

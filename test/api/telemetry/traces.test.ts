import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

/** A span as OTLP's JSON has it, as far as it is looked at. */
interface SpanJson {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, string | number | boolean> }[];
  status: { code: number };
}

/** A collector, and what it was sent. */
async function startCollector(status = 200) {
  const requests: { line: string; contentType: string | undefined; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method, url, headers } = request;
    requests.push({ line: `${method} ${url}`, contentType: headers['content-type'], body });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/v1/traces`),
    requests,
    text: () => requests.map(({ body }) => body.toString('latin1')).join('\n'),
    spans: () =>
      requests.flatMap(({ body }) => {
        const { resourceSpans } = JSON.parse(body.toString());
        return resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: SpanJson[] }[] }) =>
          scopeSpans.flatMap(({ spans }) => spans),
        ) as SpanJson[];
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What is compared of a span: the ids by the names of the spans that they are of. */
function told(spans: readonly SpanJson[]) {
  const nameOf = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(({ name, kind, parentSpanId, attributes, status }) => ({
      name,
      kind: ['', '', 'server', 'client'][kind],
      parent: parentSpanId && (nameOf.get(parentSpanId) ?? parentSpanId),
      failed: status.code === 2,
      ...Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const record = (name: string) => ({ name, status: 'NEW', notes: 'n', recipient: {} });
const answer: Answer = (request, response, body) => {
  const path = request.url?.split('?')[0] ?? '';
  if (path.endsWith('/label')) {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
    return undefined;
  }
  const status = path.endsWith('/gone') ? 404 : 200;
  return answerJson(record(path.replace('/v1/', '')), status)(request, response, body);
};

async function start(variables: Record<string, string> = {}, log = silentLog, collectorStatus = 200) {
  const collector = await startCollector(collectorStatus);
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', collector.url.href);
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const telemetry = await startTelemetry({ metrics: false, tracing: true }, log);
  const waybill = await startApp(answer, {}, { telemetry });
  return {
    collector,
    waybill,
    /** Sends a request, with an operation where it has one. */
    async send(path: string, query?: string, headers: Record<string, string> = {}) {
      const response = await waybill.fetch(`${path}`, {
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer token',
          'x-request-id': 'mine',
          ...headers,
        },
        ...(query !== undefined && { method: 'POST', body: JSON.stringify({ query }) }),
      });
      await response.text();
    },
    flush: telemetry.close,
    async [Symbol.asyncDispose]() {
      await telemetry.close();
      await waybill[Symbol.asyncDispose]();
      await collector[Symbol.asyncDispose]();
    },
  };
}

afterEach(() => vi.unstubAllEnvs());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const operation = { kind: 'server', 'http.route': '/graphql', 'waybill.request_id': 'mine', failed: false };
const call = { kind: 'client', 'http.request.method': 'GET', failed: false };

describe('traces', () => {
  test('have a span for a request to a document link, without the id of the document', async () => {
    await using traced = await start();
    await traced.send('/documents/AAAAAAAAAAAAAAAAAAAAAA.pdf');
    await traced.flush();
    expect(told(traced.collector.spans())).toEqual([
      {
        name: 'document',
        kind: 'server',
        parent: undefined,
        failed: true,
        'http.route': '/documents/{id}.pdf',
        'http.response.status_code': 410,
        'error.type': 'NOT_FOUND',
        'waybill.request_id': 'mine',
      },
    ]);
    expect(traced.collector.text()).not.toContain('AAAAAAAAAA');
  });

  test('have a child span per REST call, and each call sends the id of its span', async () => {
    await using traced = await start();
    const query = 'query Two { order(id: "a") { id notes } gone: order(id: "gone") { notes } }';
    await traced.send('/graphql', query, { traceparent, tracestate: 'vendor=1' });
    await traced.flush();
    const spans = traced.collector.spans();
    expect(told(spans)).toEqual([
      {
        ...call,
        name: 'GET /v1/orders/{id}',
        parent: 'query Two',
        'url.template': '/v1/orders/{id}',
        'http.response.status_code': 200,
        'http.response.body.size': expect.any(Number),
      },
      {
        ...call,
        name: 'GET /v1/orders/{id}',
        parent: 'query Two',
        'url.template': '/v1/orders/{id}',
        'http.response.status_code': 404,
        'http.response.body.size': expect.any(Number),
        'error.type': '404',
        failed: true,
      },
      {
        ...operation,
        name: 'query Two',
        parent: 'b7ad6b7169203331',
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'Two',
        'http.response.status_code': 200,
      },
    ]);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const sent = traced.waybill.service.requests.map(({ headers }) => headers);
    const calls = spans.filter(({ kind }) => kind === 3);
    expect(sent.map((headers) => headers.traceparent).sort()).toEqual(
      calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    );
    expect(sent.map(({ tracestate }) => tracestate)).toEqual(['vendor=1', 'vendor=1']);
    for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    }
  });

  test('show no operation type for a rejected operation', async () => {
    await using traced = await start();
    await traced.send('/graphql', '{ nothing }');
    await traced.send('/graphql', '{ __typename }');
    await traced.flush();
    expect(told(traced.collector.spans())).toEqual(
      [
        {
          ...operation,
          name: 'graphql',
          'http.response.status_code': 200,
          'error.type': 'GRAPHQL_VALIDATION_FAILED',
          failed: true,
        },
        {
          ...operation,
          name: 'query',
          'graphql.operation.type': 'query',
          'http.response.status_code': 200,
        },
      ].map((span) => ({ parent: undefined, ...span })),
    );
    expect(traced.waybill.service.requests).toEqual([]);
  });

  test('have a span for a label', async () => {
    await using traced = await start();
    await traced.send('/labels/a.pdf');
    await traced.flush();
    expect(told(traced.collector.spans())).toEqual([
      {
        ...call,
        name: 'GET /v1/shipments/{id}/label',
        parent: 'label',
        'url.template': '/v1/shipments/{id}/label',
        'http.response.status_code': 200,
      },
      {
        ...operation,
        name: 'label',
        parent: undefined,
        'http.route': '/labels/{id}.pdf',
        'http.response.status_code': 200,
      },
    ]);
  });

  const keepsNone = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  test.each<[string, string | undefined]>([
    ['not sampled', `00-${traceId}-b7ad6b7169203331-00`],
    ['dropped by the sampler', undefined],
  ])('are propagated but not exported if they are %s', async (_what, parent) => {
    await using traced = await start(parent === undefined ? keepsNone : {});
    await traced.send('/graphql', '{ order(id: "a") { id notes } }', parent ? { traceparent: parent } : {});
    await traced.flush();
    expect(traced.collector.requests).toEqual([]);
    const [sent] = traced.waybill.service.requests;
    expect(sent?.headers.traceparent).toMatch(
      new RegExp(`^00-${parent === undefined ? '[0-9a-f]{32}' : traceId}-[0-9a-f]{16}-00$`),
    );
  });

  test.each(['', 'garbage', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `${traceparent}\u00e9`])(
    'ignore the invalid traceparent %j',
    async (broken) => {
      await using traced = await start();
      await traced.send('/graphql', '{ __typename }', { traceparent: broken });
      await traced.flush();
      expect(told(traced.collector.spans())).toMatchObject([{ name: 'query', parent: undefined }]);
    },
  );

  test.each(['http/json', 'http/protobuf'] as const)(
    'contain no GraphQL document, value, identifier or token if sent as %s',
    async (protocol) => {
      const canary = 'canary573195550142';
      await using traced = await start({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol });
      const headers = { authorization: `Bearer ${canary}`, cookie: canary, 'user-agent': canary };
      const queries = [
        `query Board { order(id: "${canary}") { notes } orders(search: "${canary}") { nodes { id } } }`,
        `query ${canary.padEnd(80, 'x')} { order(id: "gone") { notes } }`,
        `{ ${canary} }`,
        `mutation { sendMessageToPhone(input: { channel: "channels/a", phone: "${canary}", name: "${canary}", text: "a" }) { __typename } }`,
      ];
      for (const query of queries) await traced.send(`/graphql?${canary}`, query, headers);
      await traced.send(`/labels/${canary}.pdf`, undefined, headers);
      await traced.flush();
      const [request] = traced.collector.requests;
      expect([request?.line, request?.contentType]).toEqual([
        'POST /v1/traces',
        protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
      ]);
      expect(traced.collector.text()).toContain('query Board');
      expect(traced.collector.text()).toContain('waybill');
      // Eight digits: a random time or identifier hardly contains as many.
      expect(traced.collector.text()).not.toMatch(/canary|57319555|Bearer/i);
    },
  );

  test('cause one warning if the collector rejects the spans', async () => {
    const { log, lines } = recordedLog('warn');
    await using traced = await start({}, log, 400);
    await traced.send('/graphql', '{ order(id: "a") { id notes } }');
    await traced.flush();
    await until(() => lines().length > 0);
    expect(lines().filter(({ msg }) => msg !== 'a REST record differs from the REST interface')).toEqual([
      { level: 'warn', msg: 'traces could not be sent' },
    ]);
  });
});

describe('an invalid OpenTelemetry variable', () => {
  test.each([
    [
      { OTEL_TRACES_SAMPLER: 'xray' },
      'OTEL_TRACES_SAMPLER: there is no sampler xray, so all traces are sent',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' },
      'OTLP over grpc is not supported, so traces are sent over http/protobuf',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '//me:pass@collector' },
      expect.stringMatching(/Could not parse .*'\/\/…@collector'/),
    ],
    [
      { OTEL_EXPORTER_OTLP_TIMEOUT: '-1' },
      expect.stringMatching(/^Configuration: OTEL_EXPORTER_OTLP_TIMEOUT /),
    ],
  ])('is logged as a warning: %j', async (variables, problem) => {
    const { log, lines } = recordedLog('warn');
    await using _traced = await start(variables, log);
    expect(lines()).toEqual([
      { level: 'warn', problem, msg: 'OpenTelemetry cannot use an environment variable' },
    ]);
  });
});

test('the OpenTelemetry SDK is not loaded if tracing is off', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (/opentelemetry\\/(sdk|core|resources|exporter|otlp)/.test(url)) console.log(url);
        return next(url, context);
      },
    });
    const { startTelemetry } = await import('./src/telemetry/telemetry.ts');
    await import('./src/server/create-app.ts');
    await startTelemetry({ metrics: true, tracing: false }, {});
    console.log('started');
    process.exit(0);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(output).toBe('started\n');
  await using waybill = await startApp(answer);
  await (
    await waybill.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer token', traceparent },
      body: JSON.stringify({ query: '{ order(id: "a") { id notes } }' }),
    })
  ).text();
  expect(waybill.service.requests.map(({ headers }) => headers.traceparent)).toEqual([undefined]);
});

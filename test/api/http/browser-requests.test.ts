import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { startWaybill } from '../../harness.ts';

const shop = 'https://shop.example';
const waybill = await startWaybill({
  CORS_ORIGINS: `${shop},http://localhost:3000`,
  PUBLIC_URL: 'https://waybill.example',
});
const { sandbox } = waybill;
const authorization = `Bearer ${sandbox.tokens.first}`;

beforeEach(() => sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const organization = '{ organization { id } }';
const typename = { data: { __typename: 'Query' } };

const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  waybill.fetch(`/graphql?${new URLSearchParams(parameters)}`, { headers: { accept: '*/*', ...headers } });

describe('CSRF protection', () => {
  const missing = {
    errors: [
      {
        message: 'A GET query needs the header "graphql-require-preflight: 1" or "accept: application/json".',
        extensions: { code: 'CSRF_HEADER_MISSING', retryable: false },
      },
    ],
  };

  test.each<[string, Record<string, string>]>([
    ['only headers that browsers send by default', { origin: 'https://evil.example', cookie: 'a=b' }],
    ['the Accept header of an image', { accept: 'image/avif,image/webp,image/*,*/*;q=0.8' }],
    ['the Accept header of a script element', { accept: '*/*', 'sec-fetch-mode': 'cors' }],
    ['a content type that needs no preflight', { 'content-type': 'text/plain' }],
    ['an empty CSRF header', { 'graphql-require-preflight': '' }],
  ])('rejects a GET with %s', async (_what, headers) => {
    const response = await get({ query: organization }, headers);
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual(missing);
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('rejects Sec-Fetch-Mode: no-cors even with an Authorization header', async () => {
    const response = await get(
      { query: organization },
      { 'sec-fetch-mode': 'no-cors', accept: 'application/json', authorization },
    );
    expect(response.status).toBe(403);
    expect((await response.json()).errors[0].extensions).toEqual({
      code: 'CSRF_HEADER_MISSING',
      retryable: false,
    });
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('rejects a GET with only the headers that fetch of Node.js sends', async () => {
    const response = await fetch(new URL(`/graphql?query=${encodeURIComponent(organization)}`, waybill.url));
    expect([response.status, await response.json()]).toEqual([403, missing]);
  });

  test.each<[string, Record<string, string>]>([
    ['graphql-require-preflight', { 'graphql-require-preflight': '1' }],
    ['apollo-require-preflight', { 'apollo-require-preflight': 'true' }],
    ['x-apollo-operation-name', { 'x-apollo-operation-name': 'Typename' }],
    ['authorization', { authorization }],
    ['an Accept header for JSON', { accept: 'application/json' }],
    [
      'an Accept header that includes GraphQL responses',
      { accept: 'Application/GraphQL-Response+JSON, */*;q=0.1' },
    ],
  ])('accepts a GET with %s', async (_what, headers) => {
    const response = await get({ query: '{ __typename }' }, headers);
    expect([response.status, await response.json()]).toEqual([200, typename]);
  });

  test('accepts a GET without an Accept header', async () => {
    const response = await waybill.fetch('/graphql?query={__typename}');
    expect([response.status, await response.json()]).toEqual([200, typename]);
  });
});

describe('a mutation by GET', () => {
  const mutation = 'mutation M { updateOrder(input: { id: "ca2500", notes: "Ring twice" }) { __typename } }';
  test.each([
    ['if it is the only operation', { query: mutation }],
    ['if operationName selects it', { query: `query Q { __typename } ${mutation}`, operationName: 'M' }],
  ])('is rejected %s', async (_what, parameters) => {
    const response = await get(parameters, { authorization });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toEqual({
      errors: [
        {
          message: 'Can only perform a mutation operation from a POST request.',
          extensions: { code: 'BAD_REQUEST', retryable: false },
        },
      ],
    });
    expect(sandbox.requests.lines()).toEqual([]);
  });
});

/** What an answer says of origins. */
function accessOf({ headers }: Response) {
  const access = [...headers].filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(access);
}

describe('a cross-origin page', () => {
  const preflight = (path: string, origin: string, headers = 'authorization,content-type') =>
    waybill.fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers,
      },
    });

  const preflightVary = 'origin, access-control-request-headers';
  const readable = {
    'access-control-allow-origin': shop,
    'access-control-expose-headers': 'content-disposition, retry-after, x-request-id',
  };

  test.each(['/graphql', '/labels/ca0001.pdf'])(
    'may call %s without cookies if CORS_ORIGINS lists its origin',
    async (path) => {
      const response = await preflight(path, shop);
      expect([response.status, response.headers.get('vary')]).toEqual([204, preflightVary]);
      expect(accessOf(response)).toEqual({
        'access-control-allow-origin': shop,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'authorization,content-type',
        'access-control-max-age': '7200',
      });
      expect(sandbox.requests.lines()).toEqual([]);
    },
  );

  test.each([
    ['Apollo Client', 'apollographql-client-name,apollographql-client-version,authorization,content-type'],
    ['OpenTelemetry and Sentry', 'baggage, sentry-trace, traceparent, tracestate'],
    ['AJAX libraries', 'x-requested-with'],
  ])('may send headers of %s if CORS_ORIGINS lists its origin', async (_library, headers) => {
    const response = await preflight('/graphql', shop, headers);
    expect(accessOf(response)['access-control-allow-headers']).toBe(headers);
  });

  test('may read responses, labels and errors if CORS_ORIGINS lists its origin', async () => {
    const answer = await get({ query: organization }, { authorization, origin: shop });
    const label = await waybill.fetch('/labels/ca0001.pdf', { headers: { authorization, origin: shop } });
    const refused = await get({ query: organization }, { origin: shop });
    expect([answer.status, label.status, refused.status]).toEqual([200, 200, 403]);
    for (const response of [answer, label, refused]) {
      expect(accessOf(response)).toEqual(readable);
      expect(response.headers.get('vary')).toContain('origin');
      await response.arrayBuffer();
    }
  });

  test.each([
    'https://evil.example',
    'https://shop.example.evil.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://SHOP.example',
    'null',
    '*',
  ])('gets no access if its origin is not listed: %s', async (origin) => {
    const asked = await preflight('/graphql', origin);
    expect([asked.status, accessOf(asked), asked.headers.get('vary')]).toEqual([204, {}, preflightVary]);
    const answer = await get({ query: organization }, { authorization, origin });
    expect([answer.status, accessOf(answer)]).toEqual([200, {}]);
    expect(JSON.stringify([...answer.headers])).not.toContain(origin === '*' ? '"*"' : origin);
  });

  test('gets no access if CORS_ORIGINS is not set', async () => {
    await using closed = await startWaybill({}, { sandbox });
    const response = await closed.fetch('/graphql?query={__typename}', { headers: { origin: shop } });
    expect([response.status, accessOf(response), response.headers.get('vary')]).toEqual([
      200,
      {},
      'accept-encoding',
    ]);
    const asked = await closed.fetch('/graphql', {
      method: 'OPTIONS',
      headers: { origin: shop, 'access-control-request-method': 'POST' },
    });
    expect([asked.status, accessOf(asked)]).toEqual([405, {}]);
  });
});

describe('the metric of rejected origins', () => {
  /** Starts a server with metrics. @returns a function that sends a request, and then returns the count. */
  async function startCounted(corsOrigins?: string) {
    const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
    const environment: Record<string, string> =
      corsOrigins === undefined ? {} : { CORS_ORIGINS: corsOrigins };
    const counted = await startWaybill(environment, { sandbox, telemetry });
    onTestFinished(() => counted[Symbol.asyncDispose]());
    return async (origin: string, headers: Record<string, string> = {}, method = 'POST') => {
      await counted.fetch('/graphql', {
        method,
        headers: { origin, 'content-type': 'application/json', ...headers },
        ...(method === 'POST' && { body: '{"query":"{ __typename }"}' }),
      });
      const page = await telemetry.metrics?.page();
      return Number(/^waybill_refused_origins_total (\d+)$/m.exec(page?.body ?? '')?.[1]);
    };
  }
  const askForPost = { 'access-control-request-method': 'POST' };

  test.each([undefined, shop])(
    'counts preflights and requests from unlisted origins: CORS_ORIGINS=%s',
    async (corsOrigins) => {
      const send = await startCounted(corsOrigins);
      expect(await send('https://a.example', askForPost, 'OPTIONS')).toBe(1);
      // The second request of a document takes the fast path.
      expect(await send('http://b.example:8080')).toBe(2);
      expect(await send('null')).toBe(3);
    },
  );

  test('does not count requests from listed origins or from the same origin', async () => {
    const send = await startCounted(shop);
    await send(shop, askForPost, 'OPTIONS');
    await send(shop);
    await send('https://waybill.test', { 'sec-fetch-site': 'same-origin' });
    expect(await send('http://127.0.0.1:4000', { host: '127.0.0.1:4000' })).toBe(0);
  });
});

test('the log names an origin once if CORS_ORIGINS does not list it', async () => {
  const { log, lines } = recordedLog();
  await using named = await startWaybill({ CORS_ORIGINS: shop }, { sandbox, log });
  sandbox.requests.clear();
  const refused = ['capacitor://localhost', 'https://a.example', 'http://b.example:8080'];
  for (const origin of [...refused, shop, ...refused]) {
    await named.fetch('/graphql', {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
  }
  expect(lines().flatMap(({ origin }) => origin ?? [])).toEqual(refused);
  expect(sandbox.requests.lines()).toEqual([]);
});

test.each(['capacitor://localhost', 'ionic://localhost', 'tauri://localhost', 'https://localhost'])(
  'a packaged app may read responses if CORS_ORIGINS lists its origin: %s',
  async (origin) => {
    await using packaged = await startWaybill({ CORS_ORIGINS: `${shop},${origin}` }, { sandbox });
    const response = await packaged.fetch('/graphql?query={__typename}', { headers: { origin } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const preflight = await packaged.fetch('/graphql', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  },
);

describe('the security headers', () => {
  const strict = 'max-age=31536000';
  const fixed = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'strict-transport-security': strict,
  };
  const said = ({ headers }: Response, names: string[]) =>
    Object.fromEntries(names.map((name) => [name, headers.get(name)]));

  test.each([
    ['a response', '/graphql?query={__typename}', 200, 'no-store'],
    ['an error', '/graphql', 400, 'no-store'],
    ['a label', '/labels/ca0001.pdf', 200, 'private, no-store'],
    ['a missing label', '/labels/none.pdf', 404, 'no-store'],
    ['a health check', '/health/live', 200, 'no-store'],
    ['an unknown path', '/nothing', 404, 'no-store'],
  ])('are set on %s', async (_what, path, status, caching) => {
    const response = await waybill.fetch(path, { headers: { authorization } });
    expect(response.status).toBe(status);
    expect(said(response, [...Object.keys(fixed), 'cache-control'])).toEqual({
      ...fixed,
      'cache-control': caching,
    });
    await response.arrayBuffer();
  });

  test('let GraphiQL load and cache its scripts', async () => {
    const page = await waybill.fetch('/graphql', { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const [file] = /graphiql\/boot-\w+\.js/.exec(await page.text()) ?? [];
    const script = await waybill.fetch(`/${file}`);
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script.headers.get('strict-transport-security')).toBe(strict);
  });

  test('omit strict-transport-security if PUBLIC_URL is http', async () => {
    await using plain = await startWaybill({ PUBLIC_URL: 'http://waybill.example' }, { sandbox });
    const response = await plain.fetch('/graphql?query={__typename}');
    expect(response.headers.get('strict-transport-security')).toBe(null);
  });
});

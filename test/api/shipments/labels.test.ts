import { deflateRawSync, deflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const pdfBytes = Buffer.from('%PDF-1.7 \xe2\xe3\xcf\xd3 %%EOF', 'latin1');
const label = '/labels/ca2036.pdf';
const call = 'GET /v1/shipments/ca2036/label';

/** Calls the server with the first merchant's token, another's or none. */
async function fetchLabel(
  path: string,
  { method = 'GET', bearer = waybill.sandbox.tokens.first }: { method?: string; bearer?: string | null } = {},
) {
  waybill.sandbox.requests.clear();
  const headers = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  return waybill.fetch(path, { method, headers });
}

/** The status and the one error of a refusal, once it is seen that it is JSON which nobody keeps. */
async function refusal(response: Response) {
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { errors } = await response.json();
  expect(errors.length).toBe(1);
  return [response.status, errors[0]];
}

const calls = () => waybill.sandbox.requests.lines();
const fail = (fault: Fault) => waybill.sandbox.faults.add({ ...fault, path: '/v1/shipments/ca2036/label' });

describe('GET /labels/{id}.pdf', () => {
  test('returns a valid PDF with a file name and a length', async () => {
    const response = await fetchLabel(label);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe('inline; filename="label-ca2036.pdf"');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    const bytes = await response.bytes();
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    const pdf = await PDFDocument.load(bytes);
    expect(pdf.getPageCount()).toBe(1);
    expect(calls()).toEqual([call]);
  });

  test('returns the same bytes as the REST service', async () => {
    const direct = await fetch(`${waybill.sandbox.url}/v1/shipments/ca2036/label`, {
      headers: { authorization: `Bearer ${waybill.sandbox.tokens.first}` },
    });
    const response = await fetchLabel(label);
    expect(Buffer.from(await response.bytes()).equals(await direct.bytes())).toBe(true);
  });

  test('forwards the first bytes before the last bytes arrive', async () => {
    fail({ kind: 'drip', bytes: 500, everyMs: 40 });
    const response = await fetchLabel(label);
    const arrivals: { ms: number; bytes: number }[] = [];
    const start = performance.now();
    for await (const chunk of response.body ?? []) {
      arrivals.push({ ms: performance.now() - start, bytes: chunk.length });
    }
    const sum = arrivals.reduce((total, { bytes }) => total + bytes, 0);
    expect(String(sum)).toBe(response.headers.get('content-length'));
    expect(arrivals.length).toBeGreaterThan(3);
    expect(arrivals[0]?.bytes).toBe(500);
    expect((arrivals.at(-1)?.ms ?? 0) - (arrivals[0]?.ms ?? 0)).toBeGreaterThan(100);
  });

  test('aborts the response when the REST response is cut off', async () => {
    fail({ kind: 'reset-in-body', bytes: 600 });
    const response = await fetchLabel(label);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBe(600);
    await expect(reader?.read()).rejects.toThrow();
  });
});

test('HEAD for a label returns the headers of GET without a body', async () => {
  const response = await fetchLabel(label, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('content-disposition')).toBe('inline; filename="label-ca2036.pdf"');
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1000);
  expect(await response.text()).toBe('');
  expect(calls()).toEqual([call]);
});

describe('a label request of a browser', () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  test.each(['GET', 'HEAD'])(
    'without a token gets HTML instructions and causes no REST call: %s',
    async (method) => {
      waybill.sandbox.requests.clear();
      const response = await waybill.fetch(label, { method, headers: { accept } });
      expect(response.status).toBe(401);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'content-type': 'text/html; charset=utf-8',
        vary: 'accept, accept-encoding',
        'www-authenticate': 'Bearer',
      });
      const length = Number(response.headers.get('content-length'));
      const body = await response.text();
      const page =
        method === 'GET' ? body : await (await waybill.fetch(label, { headers: { accept } })).text();
      expect(body).toBe(method === 'GET' ? page : '');
      expect(length).toBe(Buffer.byteLength(page));
      expect(page).toContain('Authorization: Bearer &lt;access token&gt;');
      expect(page).toContain('Label.url');
      expect(calls()).toEqual([]);
    },
  );

  test.each([
    ['TEXT/HTML', 'text/html; charset=utf-8'],
    ['application/json, text/html;q=0', 'application/json; charset=utf-8'],
    ['text/html; q=0.0, */*', 'application/json; charset=utf-8'],
  ])('with the Accept header %j gets the content type %s', async (accepted, contentType) => {
    const response = await waybill.fetch(label, { headers: { accept: accepted } });
    await response.text();
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(response.headers.get('vary')).toBe('accept, accept-encoding');
  });

  test('with an Authorization header gets no HTML', async () => {
    const authorization = `Bearer ${waybill.sandbox.tokens.first}`;
    const response = await waybill.fetch(label, { headers: { accept, authorization } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    await response.arrayBuffer();
    const malformed = await waybill.fetch(label, { headers: { accept, authorization: 'Basic a' } });
    expect(await refusal(malformed)).toMatchObject([401, { extensions: { code: 'UNAUTHENTICATED' } }]);
  });
});

describe('an invalid label request', () => {
  test.each([null, 'two words', 'ñ', ''])(
    'gets 401 without a call if the bearer token is %j',
    async (bearer) => {
      const response = await fetchLabel(label, { bearer });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await refusal(response)).toMatchObject([
        401,
        { extensions: { code: 'UNAUTHENTICATED', retryable: false } },
      ]);
      expect(calls()).toEqual([]);
    },
  );

  test.each(['..%2F..', '%2e%2e', 'a%2Fb', '%E9', '%', '%00', 'a%0d%0ab', 'x'.repeat(257), 'ca2036.pdf%2F'])(
    'gets 400 without a call if the id is %s',
    async (id) => {
      const response = await fetchLabel(`/labels/${id}.pdf`);
      expect(await refusal(response)).toMatchObject([400, { extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(calls()).toEqual([]);
    },
  );

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])(
    'gets 405 without a call if the method is %s',
    async (method) => {
      const response = await fetchLabel(label, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
      expect(calls()).toEqual([]);
    },
  );

  test.each(['/labels/ca2036', '/labels/.pdf', '/labels/a/b.pdf', '/label/ca2036.pdf', '/labels'])(
    'gets 404 without a call if the path is %s',
    async (path) => {
      const response = await fetchLabel(path);
      expect(response.status).toBe(404);
      expect(calls()).toEqual([]);
    },
  );
});

describe('a failed label request', () => {
  test.each([
    ['does not exist', 'nosuch'],
    ['belongs to another merchant', 'st0200'],
    ['has no label yet', 'ca2047'],
  ])('gets 404 if the shipment %s', async (_what, id) => {
    const response = await fetchLabel(`/labels/${id}.pdf`);
    const extensions = { code: 'NOT_FOUND', retryable: false, upstreamStatus: 404 };
    expect(await refusal(response)).toMatchObject([404, { extensions }]);
    expect(calls()).toEqual([`GET /v1/shipments/${id}/label`]);
  });

  test('gets 401 if the REST service rejects the token', async () => {
    const response = await fetchLabel(label, { bearer: 'stranger' });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    const extensions = { code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 };
    expect(await refusal(response)).toMatchObject([401, { extensions }]);
    expect(calls()).toEqual([call]);
  });

  test.each<[string, Fault, number, object]>([
    [
      'gets 502 if the REST response is HTML',
      { kind: 'content-type', contentType: 'text/html' },
      502,
      { code: 'UPSTREAM_INVALID_RESPONSE' },
    ],
    [
      'gets 502 if the REST response has no content type',
      { kind: 'status', status: 204 },
      502,
      { code: 'UPSTREAM_INVALID_RESPONSE' },
    ],
    [
      'gets 502 if the REST service returns 500',
      { kind: 'status', status: 500 },
      502,
      { code: 'UPSTREAM_ERROR', upstreamStatus: 500 },
    ],
    [
      'gets 503 if the REST service returns 503',
      { kind: 'status', status: 503 },
      503,
      { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    ],
    [
      'gets 504 if the REST service returns 504',
      { kind: 'status', status: 504 },
      504,
      { code: 'UPSTREAM_TIMEOUT', retryable: true },
    ],
    [
      'gets 503 if the connection is reset',
      { kind: 'reset' },
      503,
      { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    ],
    ['gets 403 if the REST service returns 403', { kind: 'status', status: 403 }, 403, { code: 'FORBIDDEN' }],
    [
      'gets 429 with Retry-After if the REST service returns 429',
      { kind: 'status', status: 429, headers: { 'retry-after': '7' } },
      429,
      { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 7000 },
    ],
  ])('%s', async (_what, fault, status, extensions) => {
    fail(fault);
    const response = await fetchLabel(label);
    expect(response.headers.get('retry-after')).toBe(status === 429 ? '7' : null);
    expect(await refusal(response)).toMatchObject([status, { extensions }]);
    expect(calls()).toEqual([call]);
  });

  test('gets 504 if the REST service does not respond', async () => {
    await using hasty = await startWaybill({ UPSTREAM_TIMEOUT_MS: '150' });
    hasty.sandbox.faults.add({ kind: 'hang' });
    const headers = { authorization: `Bearer ${hasty.sandbox.tokens.first}` };
    const response = await hasty.fetch(label, { headers });
    expect(await refusal(response)).toMatchObject([
      504,
      { extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } },
    ]);
  });
});

test('a second merchant can read the label of its own shipment', async () => {
  const response = await fetchLabel('/labels/st0200.pdf', { bearer: waybill.sandbox.tokens.second });
  expect(response.status).toBe(200);
  expect((await response.bytes()).length).toBeGreaterThan(1000);
  expect(calls()).toEqual(['GET /v1/shipments/st0200/label']);
});

test.each<[string, string, Buffer]>([
  ['plain bytes', 'identity', pdfBytes],
  ['plain bytes', '', pdfBytes],
  ['plain bytes', 'utf-8', pdfBytes],
  ['plain bytes', 'binary', pdfBytes],
  ['plain bytes', 'none', pdfBytes],
  ['zlib', 'deflate', deflateSync(pdfBytes)],
  ['raw deflate', 'deflate', deflateRawSync(pdfBytes)],
])(
  'a label in %s with the content-encoding "%s" arrives as the original PDF',
  async (_what, coding, sent) => {
    await using app = await startApp((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-encoding': coding }).end(sent),
    );
    const response = await app.fetch('/labels/7.pdf', {
      headers: { authorization: 'Bearer secret-token' },
    });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null]);
    expect(Buffer.from(await response.bytes()).equals(pdfBytes)).toBe(true);
    expect(app.calls()).toEqual(['GET /v1/shipments/7/label']);
  },
);

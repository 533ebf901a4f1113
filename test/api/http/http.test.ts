import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { until } from '../../fixtures/rest-service.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { sandbox } = waybill;
const authorization = `Bearer ${sandbox.tokens.first}`;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const post = (at: { url: URL }, body: string, contentType = 'application/json') =>
  fetch(new URL('/graphql', at.url), {
    method: 'POST',
    headers: { 'content-type': contentType, authorization },
    body,
  });

const organization = JSON.stringify({ query: '{ organization { id } }' });
const answer = { data: { organization: { id: 'organization/cafe-andino' } } };

describe('a listening server', () => {
  test('responds to a query', async () => {
    const response = await post(waybill, organization);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(answer);
  });

  test('serves a label as a PDF for GET and HEAD', async () => {
    const url = new URL('/labels/ca0001.pdf', waybill.url);
    sandbox.requests.clear();
    const response = await fetch(url, { headers: { authorization } });
    const pdf = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe('inline; filename="label-ca0001.pdf"');
    expect(response.headers.get('content-length')).toBe(String(pdf.length));
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.subarray(-6).toString().trim()).toBe('%%EOF');
    expect(sandbox.requests.lines()).toEqual(['GET /v1/shipments/ca0001/label']);

    const head = await fetch(url, { method: 'HEAD', headers: { authorization } });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toBe('application/pdf');
    expect(await head.text()).toBe('');
  });

  test('rejects two Authorization headers', async () => {
    sandbox.requests.clear();
    const twice = request(new URL('/graphql', waybill.url), {
      method: 'POST',
      headers: [
        ['host', waybill.url.host],
        ['content-type', 'application/json'],
        ['authorization', authorization],
        ['authorization', `Bearer ${sandbox.tokens.second}`],
      ].flat(),
    });
    twice.end(organization);
    const [response] = await once(twice, 'response');
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(await text(response))).toEqual({
      errors: [
        {
          message: 'Expected the header "Authorization: Bearer <access token>", but it has a different form.',
          extensions: { code: 'UNAUTHENTICATED', retryable: false },
        },
      ],
    });
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('completes open queries and refuses new connections during its shutdown', async () => {
    const ending = await startWaybill({ DRAIN_GRACE_MS: '10000' }, { sandbox });
    sandbox.faults.add({ kind: 'delay', delayMs: 200 });
    sandbox.requests.clear();
    const slow = post(ending, organization);
    await until(() => sandbox.requests.lines().length === 1);
    const closed = ending[Symbol.asyncDispose]();
    const live = () =>
      fetch(new URL('/health/live', ending.url), { headers: { connection: 'close' } }).then(
        ({ status }) => status,
        () => 'refused',
      );
    await expect.poll(live).toBe('refused');
    const response = await slow;
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(answer);
    await closed;
  });
});

describe('an invalid body', () => {
  test.each([
    ['truncated JSON', '{"query":"secret', 'The body is not valid JSON.'],
    ['plain text', 'secret', 'The body is not valid JSON.'],
    ['null', 'null', 'The body must be a JSON object, but its type is null.'],
    ['a string', '"secret"', 'The body must be a JSON object, but its type is string.'],
    [
      'a list',
      '[{"query":"secret"}]',
      expect.stringMatching(/^The body must be one JSON object, not a list/),
    ],
    ['an empty body', '', 'The body is not valid JSON.'],
  ])('gets 400 with an error that does not repeat the body: %s', async (_what, body, message) => {
    sandbox.requests.clear();
    const response = await post(waybill, body);
    expect(response.status).toBe(400);
    const extensions = { code: 'BAD_REQUEST', retryable: false };
    expect(await response.json()).toEqual({ errors: [{ message, extensions }] });
    expect(sandbox.requests.lines()).toEqual([]);
  });
});

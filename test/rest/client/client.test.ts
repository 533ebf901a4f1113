import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { maxResponseBytes } from '../../../src/rest/client/http-exchange.ts';
import {
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
  StatusError,
} from '../../../src/rest/errors.ts';
import {
  type Answer,
  answerJson,
  answerText,
  bearer,
  errorOf,
  startRestClient,
} from '../../fixtures/rest-service.ts';

const order = { name: 'orders/7' };

describe('a successful response', () => {
  test.each([200, 201, 202, 203, 206, 299])('is accepted with the status %i', async (status) => {
    await using rest = await startRestClient(answerJson(order, status));
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
  });

  test('is accepted with any content type', async () => {
    await using rest = await startRestClient(answerText(JSON.stringify(order), 200, 'text/plain'));
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
  });

  test('is accepted if a character is split between two chunks', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...order, notes: 'Ñandú 🦤 e\u0301' }));
    const cut = bytes.indexOf(0xf0) + 2;
    await using rest = await startRestClient(async (_request, response) => {
      response.write(bytes.subarray(0, cut));
      await new Promise((resolve) => setTimeout(resolve, 5));
      response.end(bytes.subarray(cut));
    });
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual({
      ...order,
      notes: 'Ñandú 🦤 e\u0301',
    });
  });

  test('is accepted if its body has exactly the maximum size', async () => {
    const body = JSON.stringify({ ...order, notes: '' });
    const notes = 'a'.repeat(maxResponseBytes - body.length);
    await using rest = await startRestClient(answerJson({ ...order, notes }), { callTimeoutMs: 15_000 });
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual({ ...order, notes });
  });
});

describe('an HTTP error', () => {
  const statuses = [400, 401, 403, 404, 409, 410, 412, 422, 429, 500, 502, 503, 504];
  const bodies: [string, (status: number) => Answer, string | undefined][] = [
    ['a JSON', (status) => answerJson({ error: { message: 'no such thing' } }, status), 'no such thing'],
    ['a text', (status) => answerText('no such thing', status, 'text/plain'), 'no such thing'],
    ['an HTML', (status) => answerText('<html><body><h1>Bad Gateway</h1></body></html>', status), undefined],
    ['an empty', (status) => answerText('', status, 'application/json'), undefined],
  ];

  test.each(bodies)('keeps its status if it has %s body', async (_what, answer, message) => {
    await using rest = await startRestClient((request, response, body) =>
      answer(Number(request.url?.split('/').at(-1)))(request, response, body),
    );
    for (const status of statuses) {
      const read = await errorOf(rest.api.getOrder(String(status), rest.callContext()));
      expect(read).toBeInstanceOf(StatusError);
      expect(read).toMatchObject({ status, details: { fields: [] }, retryAfterMs: undefined });
      expect(read.message).toBe(
        `GET /v1/orders/${status} returned ${status}${message === undefined ? '' : `: ${message}`}`,
      );
      const update = { order: { status: 'NEW' }, updateMask: ['status' as const] };
      const written = await errorOf(rest.api.updateOrder(String(status), update, rest.callContext()));
      expect(written).toMatchObject({ name: 'StatusError', status });
    }
    expect(rest.service.requests).toHaveLength(2 * statuses.length);
  });

  test('includes the field errors of the body', async () => {
    const details = [{ fieldViolations: [{ field: 'notes', description: 'too short' }] }];
    await using rest = await startRestClient(answerJson({ error: { message: 'invalid', details } }, 400));
    expect(await errorOf(rest.api.getOrder('7', rest.callContext()))).toMatchObject({
      details: { message: 'invalid', fields: [{ path: 'notes', message: 'too short' }] },
    });
  });

  test('keeps its status if its body is incomplete', async () => {
    await using rest = await startRestClient((request, response) => {
      response.writeHead(503, { 'content-length': '1000', 'retry-after': '2' }).write('{"message":');
      setTimeout(() => request.socket.resetAndDestroy(), 5);
    });
    const read = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(read).toMatchObject({ name: 'StatusError', status: 503, retryAfterMs: 2_000 });
    const written = await errorOf(rest.api.sendMessage('1', '2', { text: 'a' }, rest.callContext()));
    expect(written).toMatchObject({ name: 'StatusError', status: 503 });
  });

  test('is reported at the deadline if its body never ends', async () => {
    await using rest = await startRestClient(
      (_request, response) => response.writeHead(500).write('{"message":'),
      { callTimeoutMs: 600 },
    );
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toMatchObject({ name: 'StatusError', status: 500 });
  });

  test('keeps its status if its body is deeply nested', async () => {
    const depth = 10_000;
    const body = `{"errors":${'{"a":'.repeat(depth)}"b"${'}'.repeat(depth)}}`;
    await using rest = await startRestClient(answerText(body, 400, 'application/json'));
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toMatchObject({ name: 'StatusError', status: 400 });
  });

  test('omits the message of REST if the error body has 1 MB', async () => {
    const answer = answerJson({ message: 'a'.repeat(1_000_000) }, 502);
    await using rest = await startRestClient(answer);
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error.message).toBe('GET /v1/orders/7 returned 502');
  });

  test.each<[string | string[], number | undefined]>([
    ['1', 1_000],
    ['3600', 3_600_000],
    ['0', 0],
    ['2.5', 2_500],
    ['0.0001', 1],
    ['.5', 500],
    [' 7 ', 7_000],
    // A header of REST and one of a proxy, joined or not: the longer time counts.
    ['2, 2', 2_000],
    ['1,3.5, 2', 3_500],
    [['3', '1'], 3_000],
    [['soon', '4'], 4_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT, 5', 5_000],
    // The three forms of a date.
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['Wednesday, 21-Oct-15 07:28:00 GMT', 0],
    ['Wed Oct 21 07:28:00 2015', 0],
    ['Sun Nov  6 08:49:37 1994', 0],
    // The largest `Int` of GraphQL.
    ['9'.repeat(10), 2_147_483_647],
    ['9'.repeat(40), 2_147_483_647],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 2_147_483_647],
    ['soon', undefined],
    ['soon 1', undefined],
    ['-5', undefined],
    ['-0', undefined],
    ['+5', undefined],
    ['1e3', undefined],
    ['1.', undefined],
    ['0x10', undefined],
    ['2s', undefined],
    ['NaN', undefined],
    ['Wed, 99 Oct 2015 07:28:00 GMT', undefined],
    ['', undefined],
  ])('with Retry-After "%s" has retryAfterMs = %o', async (header, expected) => {
    await using rest = await startRestClient(answerJson({}, 429, { 'retry-after': header }));
    expect(await errorOf(rest.api.getOrder('7', rest.callContext()))).toMatchObject({
      status: 429,
      retryAfterMs: expected,
    });
  });

  test.each<[string, (date: Date) => string]>([
    ['the usual form', (date) => date.toUTCString()],
    [
      'the form of RFC 850',
      (date) => {
        const [, day, month, year, time] = date.toUTCString().split(' ');
        const weekday = date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
        return `${weekday}, ${day}-${month}-${year?.slice(2)} ${time} GMT`;
      },
    ],
    [
      'the form of C',
      (date) => {
        const [weekday, day, month, year, time] = date.toUTCString().split(' ');
        return `${weekday?.slice(0, 3)} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`;
      },
    ],
  ])('with a Retry-After date in one hour has a delay of one hour: %s', async (_form, write) => {
    const sentAtMs = Date.now();
    const header = write(new Date(sentAtMs + 3_600_000));
    await using rest = await startRestClient(answerJson({}, 503, { 'retry-after': header }));
    // The call always fails with a StatusError here; the match below would show anything else.
    const error = (await errorOf(rest.api.getOrder('7', rest.callContext()))) as StatusError;
    // A date has whole seconds.
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(3_599_000 - (Date.now() - sentAtMs));
    expect(error.retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('is not followed if its status is %i', async (status) => {
    await using elsewhere = await startRestClient(answerJson(order));
    const location = new URL('/v1/orders/7', elsewhere.service.url).href;
    await using rest = await startRestClient(answerJson({}, status, { location }));
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toMatchObject({ name: 'StatusError', status });
    expect(error.message).toBe(`GET /v1/orders/7 returned ${status}`);
    expect(elsewhere.service.requests).toEqual([]);
    expect(elsewhere.service.connections).toBe(0);
  });
});

describe('a 2xx response that is not JSON', () => {
  test.each<[string, Answer]>([
    ['HTML', answerText('<html><body>Log in</body></html>')],
    ['cut JSON', answerText('{"name":"orders/7","sta', 200, 'application/json')],
    ['an empty body', answerText('', 200, 'application/json')],
    ['the status 204', (_request, response) => response.writeHead(204).end()],
  ])('makes a read fail and leaves the outcome of a write unknown: %s', async (_what, answer) => {
    await using rest = await startRestClient(answer);
    const read = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(read).toBeInstanceOf(InvalidResponseError);
    expect(read.message).toBe('GET /v1/orders/7 returned no JSON');
    const written = await errorOf(rest.api.sendMessage('1', '2', { text: 'a' }, rest.callContext()));
    expect(written).toBeInstanceOf(OutcomeUnknownError);
  });
});

describe('a response above the size limit', () => {
  test('is aborted at the size limit', async () => {
    let isClosed = false;
    await using rest = await startRestClient((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      // Writes without end, as fast as the client reads.
      const more = () => {
        while (!response.destroyed && response.write('a'.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    });
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error.message).toBe('GET /v1/orders/7 returned more than 16777216 bytes');
    await expect.poll(() => isClosed).toBe(true);
  });
});

test('errors do not contain the access token or the values of query parameters', async () => {
  const answers: Answer[] = [
    answerJson(
      { message: `the token ${bearer} has expired`, errors: [{ field: bearer, message: bearer }] },
      401,
    ),
    answerText(`<p>${bearer}</p>`),
    answerText(`<p>${bearer}</p>`, 502),
    answerJson(null),
    answerJson({ orders: 7 }),
    answerJson({ orders: [], nextPageToken: {} }),
    answerJson({ orders: [], padding: 'a'.repeat(maxResponseBytes) }),
    (request) => request.socket.resetAndDestroy(),
    (request) => request.socket.end(`${request.headers.authorization} is no HTTP\r\n\r\n`),
    () => {},
  ];
  for (const answer of answers) {
    await using rest = await startRestClient(answer, { callTimeoutMs: 600 });
    const query = { pageSize: 1, search: 'Ana Ruiz', status: ['NEW'] };
    const error = await errorOf(rest.api.listOrders(query, rest.callContext()));
    const shown = `${error.message} ${inspect(error, { depth: 20, showHidden: true })}`;
    expect(rest.service.requests[0]?.line).toBe('GET /v1/orders?pageSize=1&status=NEW&search=Ana+Ruiz');
    expect(error.message).toMatch(/^GET \/v1\/orders (returned|got|was)/);
    expect(shown).not.toContain('Ana');
    expect(shown).not.toContain(bearer);
  }
});

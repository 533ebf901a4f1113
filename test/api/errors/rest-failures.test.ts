import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Answer, answerJson, answerText, startService } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// What REST and the way to it can do wrong, as a client of the graph sees it, with retries as they are by default.

const order = { name: 'orders/7', fulfiller: 'OPERATOR', status: 'NEW' };
const query = '{ order(id: "7") { fulfiller } }';
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };
const call = 'GET /v1/orders/7';
const send = `mutation {
  sendMessage(input: { conversation: "channels/1/conversations/2", content: { text: "a" } }) { __typename }
}`;
const post = 'POST /v1/channels/1/conversations/2/messages';

const standard = { UPSTREAM_RETRIES: '2' };
const hurried = { ...standard, UPSTREAM_TIMEOUT_MS: '500' };

const start = (answer: Answer, environment: Record<string, string> = standard) =>
  startApp(answer, environment);
const delayed = (delayMs: number, answer: Answer): Answer => {
  return (...exchange) => setTimeout(() => answer(...exchange), delayMs);
};
const times = (count: number) => Array.from({ length: count }, () => call);

const invalid = { path: 'order', code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
const unavailable = { path: 'order', code: 'UPSTREAM_UNAVAILABLE', retryable: true };
const late = {
  message: `${call} was not answered within 500 ms`,
  path: 'order',
  code: 'UPSTREAM_TIMEOUT',
  retryable: true,
};

const dripping: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drip = setInterval(() => response.write(' '), 5);
  request.socket.once('close', () => clearInterval(drip));
};
const reset: Answer = (request) => request.socket.resetAndDestroy();
const resetInBody: Answer = (request, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"name":');
  setTimeout(() => request.socket.resetAndDestroy(), 5);
};
const shorterThanPromised: Answer = (request, response) => {
  response.writeHead(200, { 'content-length': '100' }).write(JSON.stringify(order));
  setTimeout(() => request.socket.end(), 5);
};

describe('a call to a slow REST service', () => {
  test('succeeds if the response takes half of the timeout', async () => {
    await using waybill = await start(delayed(250, answerJson(order)), hurried);
    expect([await waybill.ask(query), waybill.calls()]).toEqual([whole, times(1)]);
  });

  test.each<[string, Answer]>([
    ['is slightly late', delayed(560, answerJson(order))],
    ['is very late', delayed(1_000, answerJson(order))],
    ['never arrives', () => {}],
    ['never ends', dripping],
  ])('fails with UPSTREAM_TIMEOUT after two attempts if the response %s', async (_how, answer) => {
    await using waybill = await start(answer, hurried);
    const told = await waybill.ask(query);
    expect([told, waybill.calls()]).toEqual([{ data: { order: null }, errors: [late] }, times(2)]);
  });

  test('is sent once and returns OutcomeUnknown if it is a write', async () => {
    await using waybill = await start(() => {}, hurried);
    expect((await waybill.ask(send)).data).toEqual({ sendMessage: { __typename: 'OutcomeUnknown' } });
    expect(waybill.calls()).toEqual([post]);
  });
});

describe('a broken connection', () => {
  test.each<[string, Answer]>([
    ['a reset before the headers', reset],
    ['a reset in the body', resetInBody],
    ['a body shorter than its content-length', shorterThanPromised],
  ])('causes two retries of a read, but no retry of a write: %s', async (_how, answer) => {
    await using waybill = await start(answer);
    expect(await waybill.ask(query)).toEqual({
      data: { order: null },
      errors: [
        {
          message: expect.stringMatching(/^GET \/v1\/orders\/7 got no response \([A-Z_]+\)$/),
          ...unavailable,
        },
      ],
    });
    expect((await waybill.ask(send)).data).toEqual({ sendMessage: { __typename: 'OutcomeUnknown' } });
    expect(waybill.calls()).toEqual([...times(3), post]);
  });

  test('that was reused causes one retry of a read, but no retry of a write', async () => {
    const used = new WeakSet<Socket>();
    await using waybill = await start(
      (request, response, body) => {
        if (used.has(request.socket)) return request.socket.destroy();
        used.add(request.socket);
        return answerJson(order)(request, response, body);
      },
      { ...standard, UPSTREAM_CONNECTIONS: '1' },
    );
    expect([await waybill.ask(query), await waybill.ask(query)]).toEqual([whole, whole]);
    expect((await waybill.ask(send)).data).toEqual({ sendMessage: { __typename: 'OutcomeUnknown' } });
    expect(waybill.calls()).toEqual([...times(3), post]);
  });
});

describe('an invalid response', () => {
  const notJson = `${call} returned no JSON`;
  const noRecord = `${call} returned a response that is not a record of orders`;

  test.each<[string, Answer, string]>([
    ['HTML with 200', answerText('<html>Log in</html>'), notJson],
    ['incomplete JSON', answerText('{"name":"orders/7","ful', 200, 'application/json'), notJson],
    ['an empty body', answerText('', 200, 'application/json'), notJson],
    ['204', (_request, response) => response.writeHead(204).end(), notJson],
    ['JSON null', answerJson(null), noRecord],
    ['an array in place of an object', answerJson([order]), noRecord],
    [
      'the wrong record',
      answerJson({ ...order, name: 'orders/8' }),
      `${call} returned a different record than the requested one`,
    ],
    [
      'bytes that are not HTTP',
      (request) => request.socket.end('SSH-2.0\r\n'),
      `${call} returned no valid HTTP response`,
    ],
  ])('causes an error without a retry: %s', async (_what, answer, message) => {
    await using waybill = await start(answer);
    const told = await waybill.ask(query);
    expect([told, waybill.calls()]).toEqual([
      { data: { order: null }, errors: [{ message, ...invalid }] },
      times(1),
    ]);
  });

  test.each<[string, Answer]>([
    ['50 MB of JSON', answerText(JSON.stringify('x'.repeat(50_000_000)), 200, 'application/json')],
    [
      'a gzip bomb',
      answerBytes(gzipSync(Buffer.alloc(200_000_000)), {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      }),
    ],
  ])('causes UPSTREAM_RESPONSE_TOO_LARGE: %s', async (_what, answer) => {
    await using waybill = await start(answer, standard);
    const message = `${call} returned more than 16777216 bytes`;
    const error = { message, path: 'order', code: 'UPSTREAM_RESPONSE_TOO_LARGE', retryable: false };
    const told = await waybill.ask(query);
    expect([told, waybill.calls()]).toEqual([{ data: { order: null }, errors: [error] }, times(1)]);
  });
});

function answerBytes(body: Buffer, headers: Record<string, string>): Answer {
  return (_request, response) => response.writeHead(200, headers).end(body);
}

describe('an error status', () => {
  const bodies: [contentType: string, body: string, message: string][] = [
    ['application/json', '{"message":"said"}', ': said'],
    ['text/plain', 'said', ': said'],
    ['text/html', '<h1>said</h1>', ''],
    ['application/json', '', ''],
  ];
  // How often it is asked for, and what a client is told.
  const statuses: [status: number, calls: number, code: string, retryable: boolean][] = [
    [400, 1, 'BAD_USER_INPUT', false],
    [401, 1, 'UNAUTHENTICATED', false],
    [403, 1, 'FORBIDDEN', false],
    [409, 1, 'CONFLICT', false],
    [422, 1, 'BAD_USER_INPUT', false],
    [429, 1, 'RATE_LIMITED', true],
    [500, 1, 'UPSTREAM_ERROR', false],
    [502, 3, 'UPSTREAM_UNAVAILABLE', true],
    [503, 3, 'UPSTREAM_UNAVAILABLE', true],
    [504, 3, 'UPSTREAM_TIMEOUT', true],
  ];

  test.each(statuses)(
    '%i with any body costs %i call(s) and becomes %s',
    async (status, calls, code, retryable) => {
      for (const [contentType, body, said] of bodies) {
        await using waybill = await start(answerText(body, status, contentType));
        // What REST says of its own failure is not for clients.
        const message = `${call} returned ${status}${status < 500 ? said : ''}`;
        const told = await waybill.ask(query);
        expect([told, waybill.calls()]).toEqual([
          {
            data: { order: null },
            errors: [{ message, path: 'order', code, retryable, upstreamStatus: status }],
          },
          times(calls),
        ]);
      }
    },
  );

  test.each([404, 410])('%i for a single record becomes null without an error', async (status) => {
    for (const [contentType, body] of bodies) {
      await using waybill = await start(answerText(body, status, contentType));
      const told = await waybill.ask(query);
      expect([told, waybill.calls()]).toEqual([{ data: { order: null }, errors: undefined }, times(1)]);
    }
  });

  test.each([502, 503, 504])('%i for a write causes no retry', async (status) => {
    await using waybill = await start(answerText('<h1>Bad Gateway</h1>', status));
    expect((await waybill.ask(send)).errors).toMatchObject([{ retryable: false, upstreamStatus: status }]);
    expect(waybill.calls()).toEqual([post]);
  });
});

describe('Retry-After', () => {
  /** 429 at first, and then the order. */
  const once = (header: string): Answer => {
    let isFirst = true;
    return (...exchange) => {
      const answer = isFirst ? answerJson({}, 429, { 'retry-after': header }) : answerJson(order);
      isFirst = false;
      return answer(...exchange);
    };
  };

  test.each(['1', 'Sat, 01 Jan 2000 00:00:00 GMT'])('allows a retry if it is "%s"', async (header) => {
    await using waybill = await start(once(header));
    expect([await waybill.ask(query), waybill.calls()]).toEqual([whole, times(2)]);
  });

  test.each<[string, object]>([
    ['3600', { retryAfterMs: 3_600_000 }],
    ['Fri, 01 Jan 2100 00:00:00 GMT', { retryAfterMs: 2 ** 31 - 1 }],
    ['soon', {}],
    ['-1', {}],
    ['1e3', {}],
  ])('prevents a retry if it is "%s"', async (header, wait) => {
    await using waybill = await start(once(header));
    const error = {
      message: `${call} returned 429`,
      path: 'order',
      code: 'RATE_LIMITED',
      retryable: true,
      upstreamStatus: 429,
    };
    const told = await waybill.ask(query);
    expect([told, waybill.calls()]).toEqual([
      { data: { order: null }, errors: [{ ...error, ...wait }] },
      times(1),
    ]);
  });
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) to another host is not followed', async (status) => {
  await using elsewhere = await startService(answerJson(order));
  await using waybill = await start(answerJson({}, status, { location: `${elsewhere.url.href}v1/orders/7` }));
  const message = `${call} returned ${status}`;
  const told = await waybill.ask(query);
  expect([told, waybill.calls()]).toEqual([
    { data: { order: null }, errors: [{ message, ...invalid, upstreamStatus: status }] },
    times(1),
  ]);
  expect([elsewhere.requests, elsewhere.connections]).toEqual([[], 0]);
});

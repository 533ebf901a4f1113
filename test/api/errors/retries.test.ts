import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answerJson,
  answerText,
  errorOf,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const order = { name: 'orders/7', fulfiller: 'OPERATOR' };
const query = '{ order(id: "7") { fulfiller } }';
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };
const call = 'GET /v1/orders/7';

/** Answers the first so many requests in one way, and then all with the order. */
function atFirst(times: number, answer: Answer): Answer {
  let left = times;
  return (request, response, body) => {
    left -= 1;
    return (left >= 0 ? answer : answerJson(order))(request, response, body);
  };
}

const startWithRetries = (answer: Answer, environment = {}) =>
  startApp(answer, { UPSTREAM_RETRIES: '2', ...environment });

const reset: Answer = (request) => request.socket.resetAndDestroy();
const resetInBody: Answer = (request, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"name":');
  setTimeout(() => request.socket.resetAndDestroy(), 5);
};

describe('a read that fails at first', () => {
  test.each<[string, Answer]>([
    ['a reset before the response', reset],
    ['a connection that ends before the response', (request) => request.socket.end()],
    ['a reset during the response', resetInBody],
    ['502 with HTML', answerText('<h1>Bad Gateway</h1>', 502)],
    ['503', answerJson({}, 503)],
    ['504', answerJson({}, 504)],
    ['429 with a Retry-After of one second', answerJson({}, 429, { 'retry-after': '1' })],
  ])('is retried after %s', async (_what, answer) => {
    await using waybill = await startWithRetries(atFirst(1, answer));
    expect(await waybill.ask(query)).toEqual(whole);
    expect(waybill.calls()).toEqual([call, call]);
  });

  test('is retried after each of two responses with 503', async () => {
    await using waybill = await startWithRetries(atFirst(2, answerJson({}, 503)));
    expect(await waybill.ask(query)).toEqual(whole);
    expect(waybill.calls()).toEqual([call, call, call]);
  });

  test('is retried if there is no response within UPSTREAM_TIMEOUT_MS', async () => {
    await using waybill = await startWithRetries(
      atFirst(1, () => {}),
      { UPSTREAM_TIMEOUT_MS: '1500' },
    );
    expect(await waybill.ask(query)).toEqual(whole);
    expect(waybill.calls()).toEqual([call, call]);
  });

  test('is retried if it is a label download that breaks before its first byte', async () => {
    const answer = answerText('%PDF', 200, 'application/pdf');
    let times = 0;
    await using waybill = await startWithRetries((...exchange) => {
      times += 1;
      return (times === 1 ? reset : answer)(...exchange);
    });
    const response = await waybill.fetch('/labels/7.pdf', {
      headers: { authorization: 'Bearer token' },
    });
    expect([response.status, await response.text()]).toEqual([200, '%PDF']);
    expect(waybill.calls()).toEqual(['GET /v1/shipments/7/label', 'GET /v1/shipments/7/label']);
  });
});

test('a read that fails as its client leaves is not retried', async () => {
  const client = new AbortController();
  await using waybill = await startWithRetries((_request, response) => {
    // The status is there, and the body is not whole yet.
    response.writeHead(503, { 'content-type': 'application/json' }).write('{');
  });
  const asked = waybill.ask(query, 'token', { signal: client.signal }).catch(() => undefined);
  await until(() => waybill.calls().length === 1);
  // By then, the head of the response has arrived.
  await sleep(200);
  client.abort();
  await asked;
  // Longer than the pause before a retry.
  await sleep(1_000);
  expect(waybill.calls()).toEqual([call]);
});

describe('a read that keeps failing', () => {
  test('reports the last error after three attempts', async () => {
    await using waybill = await startWithRetries(answerJson({}, 503));
    expect(await waybill.ask(query)).toEqual({
      data: { order: null },
      errors: [
        {
          message: `${call} returned 503`,
          path: 'order',
          code: 'UPSTREAM_UNAVAILABLE',
          retryable: true,
          upstreamStatus: 503,
        },
      ],
    });
    expect(waybill.calls()).toEqual([call, call, call]);
  });

  test('is sent only twice if each attempt times out', async () => {
    await using waybill = await startWithRetries(() => {}, { UPSTREAM_TIMEOUT_MS: '600' });
    const { errors } = await waybill.ask(query);
    expect(errors).toEqual([
      {
        message: `${call} was not answered within 600 ms`,
        path: 'order',
        code: 'UPSTREAM_TIMEOUT',
        retryable: true,
      },
    ]);
    expect(waybill.calls()).toEqual([call, call]);
  });

  test('is not retried if the operation would end before the retry', async () => {
    await using waybill = await startWithRetries(answerJson({}, 503, { 'retry-after': '2' }), {
      OPERATION_TIMEOUT_MS: '1000',
    });
    expect((await waybill.ask(query)).errors).toMatchObject([
      { code: 'UPSTREAM_UNAVAILABLE', retryAfterMs: 2_000 },
    ]);
    expect(waybill.calls()).toEqual([call]);
  });
});

describe('a long Retry-After', () => {
  test.each([
    [429, 'RATE_LIMITED'],
    [503, 'UPSTREAM_UNAVAILABLE'],
  ])('is passed to the client without a retry if the status is %d', async (status, code) => {
    await using waybill = await startWithRetries(answerJson({}, status, { 'retry-after': '3600' }));
    const { errors } = await waybill.ask(query);
    expect(errors).toEqual([
      {
        message: `${call} returned ${status}`,
        path: 'order',
        code,
        retryable: true,
        upstreamStatus: status,
        retryAfterMs: 3_600_000,
      },
    ]);
    expect(waybill.calls()).toEqual([call]);
  });
});

test('a write is never retried after its bytes were sent', async () => {
  const mutation = `mutation {
    sendMessage(input: { conversation: "channels/1/conversations/2", content: { text: "a" } }) { __typename }
  }`;
  for (const answer of [reset, resetInBody, answerJson({}, 502), answerJson({}, 503), answerJson({}, 504)]) {
    await using waybill = await startWithRetries(answer);
    await waybill.ask(mutation);
    expect(waybill.calls()).toEqual(['POST /v1/channels/1/conversations/2/messages']);
  }
});

test('extensions.upstream shows how often a call was retried', async () => {
  await using waybill = await startWithRetries(atFirst(2, answerJson({}, 503)), { SHOW_COST: 'yes' });
  const response = await waybill.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer token', 'x-upstream-cost': '1' },
    body: JSON.stringify({ query }),
  });
  const { extensions } = await response.json();
  expect(extensions.upstream).toMatchObject({ calls: 1, requests: [{ status: 200, retries: 2 }] });
});

test('retries add at most 30% to the calls if every second call fails', async () => {
  let times = 0;
  const answer = answerJson(order);
  await using rest = await startRestClient(
    (...exchange) => {
      times += 1;
      return (times % 2 === 0 ? answer : reset)(...exchange);
    },
    { retries: 2 },
  );
  for (let time = 0; time < 200; time += 1) {
    await rest.api.getOrder(`${time}`, rest.callContext()).catch(() => {});
  }
  // Without a bound there would be 400: every other one fails.
  expect(rest.service.requests.length).toBeGreaterThan(210);
  // A fifth of the reads, and the ten that there are at the start.
  expect(rest.service.requests.length).toBeLessThanOrEqual(260);
});

test('failing reads of one token do not use up the retries of other tokens', async () => {
  let failsOnce = true;
  await using waybill = await startWithRetries((request, response, body) => {
    const isPoisoned = request.headers.authorization === 'Bearer ana';
    const fails = isPoisoned || failsOnce;
    if (!isPoisoned) failsOnce = false;
    return answerJson(fails ? {} : order, fails ? 503 : 200)(request, response, body);
  });
  for (let time = 0; time < 30; time += 1) await waybill.ask(query, 'ana');
  const before = waybill.calls().length;
  // As far as its tries go, there are none left for that token.
  expect((await waybill.ask(query, 'ana')).errors).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE' }]);
  expect(waybill.calls().length - before).toBeLessThanOrEqual(2);
  expect(await waybill.ask(query, 'eva')).toEqual(whole);
});

test('reads succeed even if a restart of the REST service interrupts them', async () => {
  const atOnce = 24;
  const held: (() => void)[] = [];
  let isHeld = false;
  await using waybill = await startWithRetries((request, response, body) => {
    if (isHeld) return held.push(() => request.socket.resetAndDestroy());
    return answerJson({ ...order, name: request.url?.replace('/v1/', '') })(request, response, body);
  });
  const ask = (number: number) =>
    waybill.ask(`{ order(id: "${number}") { fulfiller } }`, ['ana', 'eva'][number % 2]);
  for (let number = 0; number < 150; number += 1) await ask(number);
  isHeld = true;
  const answers = Array.from({ length: atOnce }, (_, number) => ask(1_000 + number));
  await until(() => held.length === atOnce);
  isHeld = false;
  for (const breakOff of held) breakOff();
  expect(await Promise.all(answers)).toEqual(Array.from({ length: atOnce }, () => whole));
});

test('an abort immediately ends the pause before a retry', async () => {
  const giveUp = new AbortController();
  await using rest = await startRestClient(
    (request, response, body) => {
      // The pause lasts a second at least.
      setTimeout(() => giveUp.abort(), 50);
      return answerJson({}, 503, { 'retry-after': '1' })(request, response, body);
    },
    { retries: 2 },
  );
  const error = await errorOf(rest.api.getOrder('7', rest.callContext(giveUp.signal)));
  expect(error.message).toBe('GET /v1/orders/7 was aborted');
  expect(rest.service.requests).toHaveLength(1);
});

test('a read is tried three times if the connection is refused', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const address = closed.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  await new Promise((resolve) => closed.close(resolve));
  await using rest = await startRestClient(answerJson(order), { baseUrl: url, retries: 2 });
  const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
  expect(error.message).toBe('GET /v1/orders/7 got no response (ECONNREFUSED)');
  const callContext = rest.callContext();
  await errorOf(rest.api.getOrder('7', callContext));
  expect(callContext.callLog.entries[0]?.retries).toBe(2);
});

test('a read that waits for a retry occupies no slot', async () => {
  let times = 0;
  await using waybill = await startWithRetries(
    (...exchange) => {
      times += 1;
      return (times === 1 ? answerJson({}, 429, { 'retry-after': '1' }) : answerJson(order))(...exchange);
    },
    { UPSTREAM_CONNECTIONS: '1' },
  );
  const slow = waybill.ask(query, 'ana').then(() => 'ana');
  await until(() => times === 1);
  const quick = waybill.ask(query, 'eva').then(() => 'eva');
  expect(await Promise.race([slow, quick])).toBe('eva');
  expect(await slow).toBe('ana');
  expect(waybill.calls()).toEqual([call, call, call]);
});

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

/** A service that answers nothing until it is let, apart from the order by which it accepts tokens. */
function holding() {
  const held: [IncomingMessage, ServerResponse][] = [];
  let isHeld = true;
  const reply = (request: IncomingMessage, response: ServerResponse) =>
    answerJson({ name: request.url?.replace('/v1/', ''), fulfiller: 'OPERATOR' })(request, response, '');
  return {
    held,
    answer: (request: IncomingMessage, response: ServerResponse) =>
      isHeld ? held.push([request, response]) : reply(request, response),
    hold() {
      isHeld = true;
    },
    letGo() {
      isHeld = false;
      for (const [request, response] of held) reply(request, response);
    },
  };
}

const order = (id: string) => `{ order(id: "${id}") { fulfiller } }`;
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };
/** Each operation gets as far as it gets. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

test('a single call is not queued behind the many calls of another tenant', async () => {
  const { answer, held, hold, letGo } = holding();
  await using waybill = await startApp(answer, {
    UPSTREAM_CONNECTIONS: '1',
    UPSTREAM_LISTS_FOR_BATCHES: 'no',
  });
  // Each accepted token has turns of its own.
  letGo();
  for (const bearer of ['ana', 'eva']) await waybill.ask(order('first'), bearer);
  hold();
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const many = waybill.ask(
    `{ ${ids.map((id) => `o${id}: order(id: "${id}") { fulfiller }`).join(' ')} }`,
    'ana',
  );
  await until(() => held.length === 1);
  const one = waybill.ask(order('eva'), 'eva');
  await settle();
  letGo();
  expect(await one).toEqual(whole);
  expect((await many).errors).toBeUndefined();
  const calls = waybill.calls().slice(2);
  expect(calls.indexOf('GET /v1/orders/eva')).toBeLessThanOrEqual(2);
  expect(calls).toHaveLength(21);
});

test('no call of an accepted operation is rejected, however many calls wait', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, {
    UPSTREAM_CONNECTIONS: '1',
    UPSTREAM_LISTS_FOR_BATCHES: 'no',
  });
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const query = (who: string) =>
    `{ ${ids.map((id) => `o${id}: order(id: "${who}-${id}") { fulfiller }`).join(' ')} }`;
  const answers = ['ana', 'eva', 'ida'].map((bearer) => waybill.ask(query(bearer), bearer));
  await until(() => held.length === 1);
  await settle();
  letGo();
  for (const { errors } of await Promise.all(answers)) expect(errors).toBeUndefined();
  expect(waybill.calls()).toHaveLength(3 * ids.length);
});

test('queued reads are not sent after their client has disconnected', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, { UPSTREAM_CONNECTIONS: '1' });
  const first = waybill.ask(order('0'), 'ida');
  await until(() => held.length === 1);
  const client = new AbortController();
  const gone = ['ana', 'eva'].flatMap((bearer) =>
    ['1', '2'].map((id) => waybill.ask(order(`${bearer}-${id}`), bearer, { signal: client.signal })),
  );
  const failed = Promise.allSettled(gone);
  await settle();
  client.abort();
  await failed;
  const later = ['ana', 'eva'].map((bearer) => waybill.ask(order('4'), bearer));
  await settle();
  letGo();
  expect(await Promise.all([first, ...later])).toEqual([whole, whole, whole]);
  expect(waybill.calls()).toEqual(['GET /v1/orders/0', 'GET /v1/orders/4', 'GET /v1/orders/4']);
});

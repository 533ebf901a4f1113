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
      isHeld && request.url !== '/v1/orders/accept'
        ? held.push([request, response])
        : reply(request, response),
    letGo() {
      isHeld = false;
      for (const [request, response] of held) reply(request, response);
    },
  };
}

const order = (id: string) => `{ order(id: "${id}") { fulfiller } }`;
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };
const refused = (waiting: number, whose: string) => ({
  data: { order: null },
  errors: [
    {
      message: `A call to REST was not made: ${waiting} of ${whose} wait for their turn, and no more may. Try again later.`,
      path: 'order',
      code: 'OVERLOADED',
      retryable: true,
      retryAfterMs: 1_000,
    },
  ],
});

type Waybill = Awaited<ReturnType<typeof startApp>>;

/** Lets REST accept tokens, so that each is an owner of its own. */
async function accept({ ask }: Waybill, ...bearers: string[]): Promise<void> {
  for (const bearer of bearers) await ask(order('accept'), bearer);
}

const callsOf = (waybill: Waybill) => waybill.calls().filter((line) => line !== 'GET /v1/orders/accept');

const limits = { UPSTREAM_CONNECTIONS: '1', UPSTREAM_QUEUE: '4' };

/** Each operation gets as far as it gets. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

test('one tenant has at most half of the places in which calls wait, and is refused beyond', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, limits);
  const answers = ['1', '2', '3'].map((id) => waybill.ask(order(id), 'ana'));
  await until(() => held.length === 1);
  await settle();
  expect(await waybill.ask(order('4'), 'ana')).toEqual(refused(2, 'this token'));
  const other = waybill.ask(order('5'), 'eva');
  await settle();
  letGo();
  expect(await Promise.all([...answers, other])).toEqual([whole, whole, whole, whole]);
  expect(waybill.calls().sort()).toEqual(['1', '2', '3', '5'].map((id) => `GET /v1/orders/${id}`));
});

test("a tenant's one call waits for one of another's many, and not for all", async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, {
    UPSTREAM_CONNECTIONS: '1',
    UPSTREAM_LISTS_FOR_BATCHES: 'no',
  });
  await accept(waybill, 'ana', 'eva');
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
  expect(callsOf(waybill).indexOf('GET /v1/orders/eva')).toBeLessThanOrEqual(2);
  expect(callsOf(waybill)).toHaveLength(21);
});

test('all tenants together have so many places, and none is refused once there is room again', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, limits);
  await accept(waybill, 'ana', 'eva', 'ida');
  const answers = [waybill.ask(order('0'), 'ana')];
  await until(() => held.length === 1);
  for (const bearer of ['ana', 'eva']) {
    for (const id of ['1', '2']) answers.push(waybill.ask(order(`${bearer}-${id}`), bearer));
  }
  await settle();
  expect(await waybill.ask(order('9'), 'ida')).toEqual(refused(4, 'all tokens'));
  letGo();
  expect(await Promise.all(answers)).toEqual(answers.map(() => whole));
  expect(await waybill.ask(order('9'), 'ida')).toEqual(whole);
  expect(callsOf(waybill)).toHaveLength(6);
});

test('calls of tokens that REST has not accepted leave a place to accepted ones', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, limits);
  await accept(waybill, 'ana');
  const answers = [waybill.ask(order('0'), 'made-up-0')];
  await until(() => held.length === 1);
  answers.push(...['1', '2', '3'].map((id) => waybill.ask(order(id), `made-up-${id}`)));
  await settle();
  expect(await waybill.ask(order('4'), 'made-up-4')).toEqual(refused(3, 'tokens that REST has not accepted'));
  answers.push(waybill.ask(order('5'), 'ana'));
  await settle();
  letGo();
  expect(await Promise.all(answers)).toEqual(answers.map(() => whole));
  // The accepted token has the second turn.
  expect(callsOf(waybill)).toEqual(['0', '1', '5', '2', '3'].map((id) => `GET /v1/orders/${id}`));
});

test('a write that is refused was not sent, and says so', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, limits);
  const answers = ['1', '2', '3'].map((id) => waybill.ask(order(id), 'ana'));
  await until(() => held.length === 1);
  await settle();
  const { errors } = await waybill.ask(
    'mutation { sendMessage(input: { conversation: "channels/1/conversations/2", content: { text: "a" } }) { __typename } }',
    'ana',
  );
  expect(errors).toMatchObject([{ path: 'sendMessage', code: 'OVERLOADED', retryable: true }]);
  letGo();
  await Promise.all(answers);
  expect(waybill.calls().filter((line) => line.startsWith('POST'))).toEqual([]);
});

test('refused reads take no places in the queue', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, {
    ...limits,
    UPSTREAM_CALLS_PER_OPERATION: '1000',
    UPSTREAM_LISTS_FOR_BATCHES: 'no',
  });
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const many = waybill.ask(
    `{ ${ids.map((id) => `o${id}: order(id: "${id}") { fulfiller }`).join(' ')} }`,
    'ana',
  );
  await until(() => held.length === 1);
  await settle();
  letGo();
  const { data, errors } = await many;
  expect(Object.values(data as object).filter((value) => value !== null)).toHaveLength(3);
  expect(errors?.map(({ code }) => code)).toEqual(Array.from({ length: 17 }, () => 'OVERLOADED'));
});

test('reads whose client has gone take none of the places in which calls wait', async () => {
  const { answer, held, letGo } = holding();
  await using waybill = await startApp(answer, limits);
  const first = waybill.ask(order('0'), 'ida');
  await until(() => held.length === 1);
  const client = new AbortController();
  const gone = ['ana', 'eva'].flatMap((bearer) =>
    ['1', '2'].map((id) => waybill.ask(order(`${bearer}-${id}`), bearer, { signal: client.signal })),
  );
  const failed = Promise.allSettled(gone);
  await settle();
  expect((await waybill.ask(order('3'), 'ida')).errors).toMatchObject([{ code: 'OVERLOADED' }]);
  client.abort();
  await failed;
  await settle();
  const later = ['ana', 'eva'].map((bearer) => waybill.ask(order('4'), bearer));
  await settle();
  letGo();
  expect(await Promise.all([first, ...later])).toEqual([whole, whole, whole]);
  expect(waybill.calls()).toEqual(['GET /v1/orders/0', 'GET /v1/orders/4', 'GET /v1/orders/4']);
});

import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { openRaw } from '../../fixtures/raw-http.ts';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { type StartAppOptions, startApp } from '../../fixtures/start-app.ts';

const orderQuery = '{ order(id: "7") { fulfiller } }';

/** Starts the application with a few slots for labels. REST answers a label when the test says so. */
async function startWithSlots(slots: number, options: StartAppOptions = {}) {
  const held = new Map<string, ServerResponse>();
  const answer: Answer = (request, response, body) => {
    const [, id] = /\/shipments\/(.*)\/label$/.exec(request.url ?? '') ?? [];
    if (id !== undefined) held.set(id, response);
    else answerJson({ name: 'orders/7', fulfiller: 'OPERATOR' })(request, response, body);
  };
  const waybill = await startApp(answer, {}, { labelRequestsAtOnce: slots, ...options });
  const label = (id: string, bearer: string, signal: AbortSignal | null = null) =>
    fetch(new URL(`/labels/${id}.pdf`, waybill.url), {
      headers: { authorization: `Bearer ${bearer}` },
      signal,
    });
  /** The ids of the labels whose calls REST has got, in their order. */
  const called = () => [...held.keys()];
  const send = (id: string) =>
    held.get(id)?.writeHead(200, { 'content-type': 'application/pdf' }).end(`%PDF ${id}`);
  return {
    waybill,
    label,
    called,
    send,
    /** Lets REST accept these access tokens. */
    async accept(...bearers: string[]) {
      for (const bearer of bearers) await waybill.ask(orderQuery, bearer);
    },
    async [Symbol.asyncDispose]() {
      await waybill[Symbol.asyncDispose]();
    },
  };
}

/** Long enough for a request on this machine to reach its place in the queue. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

test('free label slots go to the waiting tokens in turn', async () => {
  await using stage = await startWithSlots(4);
  const { label, called, send } = stage;
  await stage.accept('ana', 'eva', 'lia');
  const labels: Promise<Response>[] = [];
  for (const id of ['ana-1', 'ana-2', 'eva-1', 'eva-2']) labels.push(label(id, id.slice(0, 3)));
  await until(() => called().length === 4);
  for (const id of ['eva-3', 'eva-4', 'lia-1']) {
    labels.push(label(id, id.slice(0, 3)));
    await settle();
  }
  expect(called()).toHaveLength(4);
  for (const [sent, next] of [
    ['eva-1', 'eva-3'],
    ['eva-2', 'lia-1'],
    ['eva-3', 'eva-4'],
  ] as const) {
    send(sent);
    await until(() => called().at(-1) === next);
  }
  for (const id of ['ana-1', 'ana-2', 'lia-1', 'eva-4']) send(id);
  const answers = await Promise.all(labels.map(async (sent) => (await sent).text()));
  expect(answers).toEqual(
    ['ana-1', 'ana-2', 'eva-1', 'eva-2', 'eva-3', 'eva-4', 'lia-1'].map((id) => `%PDF ${id}`),
  );
});

test('one of two label slots is reserved for accepted tokens', async () => {
  await using stage = await startWithSlots(2);
  const { label, called, send } = stage;
  await stage.accept('ana');
  const labels = [label('m1', 'made-up-1')];
  await until(() => called().length === 1);
  labels.push(label('m2', 'made-up-2'));
  await settle();
  expect(called()).toEqual(['m1']);
  labels.push(label('a1', 'ana'));
  await until(() => called().length === 2);
  labels.push(label('a2', 'ana'));
  await settle();
  expect(called()).toEqual(['m1', 'a1']);
  for (const id of ['m1', 'm2', 'a1', 'a2']) {
    await until(() => called().includes(id));
    send(id);
  }
  expect((await Promise.all(labels)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test('a quarter of the label slots is reserved for accepted tokens', async () => {
  await using stage = await startWithSlots(4);
  const { label, called, send } = stage;
  await stage.accept('ana');
  const labels: Promise<Response>[] = [];
  for (const id of ['m1', 'm2', 'm3', 'm4']) {
    labels.push(label(id, `made-up-${id}`));
    await settle();
  }
  expect(called()).toEqual(['m1', 'm2', 'm3']);
  labels.push(label('a1', 'ana'));
  await until(() => called().includes('a1'));
  for (const id of ['m1', 'm2', 'm3', 'a1', 'm4']) {
    await until(() => called().includes(id));
    send(id);
  }
  expect((await Promise.all(labels)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test('a successful label request makes its token an accepted token', async () => {
  await using stage = await startWithSlots(2);
  const { label, called, send } = stage;
  const first = label('l1', 'lia');
  await until(() => called().length === 1);
  send('l1');
  expect(await (await first).text()).toBe('%PDF l1');
  const labels = [label('m1', 'made-up')];
  await until(() => called().length === 2);
  labels.push(label('l2', 'lia'));
  await until(() => called().length === 3);
  for (const id of ['m1', 'l2']) send(id);
  expect((await Promise.all(labels)).map(({ status }) => status)).toEqual([200, 200]);
});

test('a label request that waits too long fails with 503 and makes no REST call', async () => {
  await using stage = await startWithSlots(2, { labelWaitMs: 200 });
  const { label, called, send } = stage;
  const first = label('a1', 'ana');
  await until(() => called().length === 1);
  const startMs = performance.now();
  const refused = await label('a2', 'ana');
  expect(performance.now() - startMs).toBeGreaterThan(190);
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    503,
    '1',
    {
      errors: [
        {
          message: 'The request for a label waited 200 ms in the queue. Try again soon.',
          extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
        },
      ],
    },
  ]);
  send('a1');
  expect((await first).status).toBe(200);
  expect(called()).toEqual(['a1']);
});

test('a client that disconnects frees its slot or its place in the queue', async () => {
  await using stage = await startWithSlots(2);
  const { label, called, send } = stage;
  const holder = new AbortController();
  const waiter = new AbortController();
  const gone = [label('a1', 'ana', holder.signal).catch(String)];
  await until(() => called().length === 1);
  gone.push(label('a2', 'ana', waiter.signal).catch(String));
  await settle();
  const last = label('a3', 'ana');
  await settle();
  waiter.abort();
  await settle();
  expect(called()).toEqual(['a1']);
  holder.abort();
  await until(() => called().length === 2);
  send('a3');
  expect(await (await last).text()).toBe('%PDF a3');
  expect(called()).toEqual(['a1', 'a3']);
  expect(await Promise.all(gone)).toEqual(Array(2).fill(expect.stringContaining('AbortError')));
});

test('the limit of 750 waiting label requests does not block an accepted token', async () => {
  await using stage = await startWithSlots(2);
  const { label, called, send } = stage;
  await stage.accept('ana');
  // A connection has at most 10 requests at work.
  const clients = await Promise.all(Array.from({ length: 76 }, () => openRaw(stage.waybill)));
  const request = 'GET /labels/m.pdf HTTP/1.1\r\nhost: a\r\nauthorization: Bearer made-up\r\n\r\n';
  for (const { socket } of clients) socket.write(request.repeat(10));
  await until(() => called().length === 1);
  await expect
    .poll(async () => {
      const signal = AbortSignal.timeout(500);
      return label('x', 'made-up', signal).then(
        async (refused) => [refused.status, (await refused.json()).errors[0].message],
        () => 'waits',
      );
    })
    .toEqual([503, '750 label requests are already waiting. Try again soon.']);
  const accepted = label('a1', 'ana');
  await until(() => called().includes('a1'));
  send('a1');
  expect((await accepted).status).toBe(200);
  expect(called()).toEqual(['m', 'a1']);
  for (const { socket } of clients) socket.destroy();
});

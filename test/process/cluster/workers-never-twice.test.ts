import { describe, expect, test } from 'vitest';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { type Answer, answerAsPromised, startService, until } from '../../fixtures/rest-service.ts';
import { post, startWorkers } from '../../fixtures/workers-process.ts';

const posted = 'POST /v1/orders';

/** The mutation with an order of these fields, as a document of its own. */
function createOrder(fields: Record<string, unknown>): string {
  const literal = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{ ${Object.entries(value)
      .map(([name, part]) => `${name}: ${name === 'documentType' ? part : literal(part)}`)
      .join(', ')} }`;
  };
  return `mutation { createOrder(input: ${literal({ ...order, ...fields })}) {
    __typename
    ... on CreateOrderSuccess { order { id } }
  } }`;
}

/** Holds the responses to the first `count` POSTs until the test releases them. */
function holding(count: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const answer: Answer = (request, response, body) => {
    const finish = () => answerAsPromised(request, response, body);
    taken += request.method === 'POST' ? 1 : 0;
    return request.method === 'POST' && taken <= count ? waiting.push(finish) : finish();
  };
  return { waiting, answer };
}

async function startApp(answer: Answer) {
  const service = await startService(answer);
  const server = startWorkers({ UPSTREAM_URL: service.url.href });
  const { graphql } = await server.listening();
  return {
    server,
    workers: await server.workers(),
    /** Sends the mutation to the next worker. Each call uses another connection, so the workers alternate. */
    ask: async (fields: Record<string, unknown>) =>
      (await (await post(graphql, createOrder(fields))).json()).data?.createOrder,
    posts: () => service.requests.filter(({ line }) => line === posted).length,
    lines: service.lines,
    answeredBy: () =>
      new Set(server.lines().flatMap(({ msg, worker }) => (msg === 'answered' ? [worker] : []))),
    async [Symbol.asyncDispose]() {
      server.signal('SIGTERM');
      expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
      await service[Symbol.asyncDispose]();
    },
  };
}

const success = { __typename: 'CreateOrderSuccess', order: { id: 'orders/1' } };

describe('an idempotency key in several workers', { timeout: 60_000 }, () => {
  test('causes one write in total for concurrent and later requests', async () => {
    const { waiting, answer } = holding(1);
    await using waybill = await startApp(answer);
    const { ask, lines, answeredBy } = waybill;
    const fields = { idempotencyKey: 'k' };
    const asked = Array.from({ length: 6 }, () => ask(fields));
    await until(() => waiting.length === 1);
    // Any worker reports the conflict at once.
    const other = { ...fields, sellingPriceCents: 1 };
    expect([await ask(other), await ask(other)]).toEqual([
      { __typename: 'Conflict' },
      { __typename: 'Conflict' },
    ]);
    waiting[0]?.();
    expect(await Promise.all(asked)).toEqual(asked.map(() => success));
    expect([await ask(fields), await ask(fields)]).toEqual([success, success]);
    expect(lines().filter((line) => line === posted)).toHaveLength(1);
    await until(() => answeredBy().size === 2);
  });

  test('can be used again in every worker after a rejected write', async () => {
    let refusals = 0;
    await using waybill = await startApp((request, response, body) => {
      if (refusals > 0 || request.method !== 'POST') return answerAsPromised(request, response, body);
      refusals += 1;
      return response.writeHead(403).end();
    });
    const { ask, posts } = waybill;
    expect(await ask({ idempotencyKey: 'k' })).toBe(null);
    expect(await ask({ idempotencyKey: 'k', sellingPriceCents: 1 })).toEqual(success);
    expect(posts()).toBe(2);
  });

  test('returns OutcomeUnknown after a worker was killed during the write', async () => {
    const { waiting, answer } = holding(1);
    await using waybill = await startApp(answer);
    const { server, workers, ask, lines } = waybill;
    const [working, other] = workers.map(({ pid }) => pid);
    const fields = { idempotencyKey: 'k', referenceId: 'r' };
    // Each worker gets one request, and one worker is stopped at first.
    process.kill(Number(other), 'SIGSTOP');
    const asked = Promise.allSettled([ask(fields), ask(fields)]);
    await until(() => waiting.length === 1);
    process.kill(Number(working), 'SIGKILL');
    process.kill(Number(other), 'SIGCONT');
    const unknown = { __typename: 'OutcomeUnknown' };
    const ends = (await asked).map((end) => (end.status === 'fulfilled' ? end.value : 'cut off'));
    expect(ends).toHaveLength(2);
    expect(ends).toEqual(expect.arrayContaining(['cut off', unknown]));
    await server.workers(3);
    expect([await ask(fields), await ask(fields)]).toEqual([unknown, unknown]);
    expect(await ask({ ...fields, sellingPriceCents: 1 })).toEqual({ __typename: 'Conflict' });
    const searched = expect.stringMatching(/^GET \/v1\/orders\?.*search=r/);
    const writesAndSearches = lines().filter((line) => line !== organizationCall);
    expect(writesAndSearches.slice(0, 4)).toEqual([posted, searched, searched, searched]);
    expect(writesAndSearches.filter((line) => line === posted)).toHaveLength(1);
  });
});

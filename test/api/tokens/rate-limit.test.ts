import { expect, test, vi } from 'vitest';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const start = (pointsPerSecond: number) =>
  startApp(answerJson({ orders: [], nextPageToken: '' }), {
    RATE_LIMIT_POINTS_PER_SECOND: String(pointsPerSecond),
  });
/** The `retryAfterMs` of the first error. */
function retryAfterOf(errors: readonly object[] = []): unknown {
  const [error = {}] = errors;
  return 'retryAfterMs' in error ? error.retryAfterMs : undefined;
}

const orders = (first: number) => `{ orders(first: ${first}) { nodes { id } } }`;

test('a token can spend the points of ten seconds before it is rate-limited', async () => {
  // Points come back by this clock, which stands still.
  vi.useFakeTimers({ toFake: ['performance'] });
  await using waybill = await start(1);
  expect((await waybill.ask(orders(10), 'ana')).errors).toBeUndefined();
  const { data, errors } = await waybill.ask(orders(3), 'ana');
  expect(data).toBeUndefined();
  expect(errors).toEqual([
    {
      message: expect.stringMatching(
        /^The request costs 3 points, but this token has 0 left\. Nothing ran\. Retry in \d+ ms, or request fewer objects\.$/,
      ),
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterMs: expect.any(Number),
      path: undefined,
    },
  ]);
  const retryAfterMs = retryAfterOf(errors);
  expect(retryAfterMs).toBe(3_000);
  expect((await waybill.ask(orders(10), 'eva')).errors).toBeUndefined();
  expect(waybill.calls()).toHaveLength(2);
  // A refused operation costs nothing, and the points come back.
  vi.advanceTimersByTime(1_100);
  expect((await waybill.ask(orders(1), 'ana')).errors).toBeUndefined();
});

test('concurrent equal queries cost points for each query', async () => {
  await using waybill = await start(1);
  const responses = await Promise.all([1, 2].map(() => waybill.ask(orders(6), 'ana')));
  expect(responses.map(({ errors }) => errors?.map(({ code }) => code))).toEqual([
    undefined,
    ['RATE_LIMITED'],
  ]);
  expect(waybill.calls()).toHaveLength(1);
});

test('an operation above the points of ten seconds runs and leaves a debt of points', async () => {
  await using waybill = await start(1);
  expect((await waybill.ask(orders(20), 'ana')).errors).toBeUndefined();
  const { errors } = await waybill.ask(orders(1), 'ana');
  expect(retryAfterOf(errors)).toBeGreaterThan(9_000);
});

test('rate limits are off by default and never apply to introspection', async () => {
  await using unlimited = await startApp(answerJson({ orders: [], nextPageToken: '' }));
  for (let count = 0; count < 5; count += 1) {
    expect((await unlimited.ask(orders(1000), 'ana')).errors).toBeUndefined();
  }
  await using limited = await start(1);
  for (let count = 0; count < 15; count += 1) {
    expect((await limited.ask('{ __typename }', 'ana')).errors).toBeUndefined();
  }
});

test.each([
  ['application/json', 200],
  ['application/graphql-response+json', 429],
])('a rate-limited %s response has the status %d, Retry-After and the cost', async (accept, status) => {
  await using waybill = await start(10);
  const post = async () => {
    const response = await fetch(new URL('/graphql', waybill.url), {
      method: 'POST',
      headers: {
        accept,
        'content-type': 'application/json',
        authorization: 'Bearer ana',
        'x-upstream-cost': '1',
      },
      body: JSON.stringify({ query: orders(45) }),
    });
    const { errors, extensions } = await response.json();
    const retryAfter = response.headers.get('retry-after');
    return {
      status: response.status,
      retryAfter,
      code: errors?.[0].extensions.code,
      cost: extensions.cost,
    };
  };
  // The first request of a document is Yoga's.
  for (const [least, most] of [
    [55, 60],
    [10, 50],
  ]) {
    const { cost, ...rest } = await post();
    expect(rest).toEqual({ status: 200, retryAfter: null, code: undefined });
    expect(cost.points).toBe(45);
    expect(cost.remaining).toBeGreaterThanOrEqual(least ?? 0);
    expect(cost.remaining).toBeLessThanOrEqual(most ?? 0);
    expect(cost.resetMs).toBeGreaterThan(1_000);
  }
  const refused = await post();
  expect(refused).toMatchObject({ status, code: 'RATE_LIMITED', cost: { points: 45 } });
  expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1);
});

test('each page that a filter reads costs 100 points, charged after the operation', async () => {
  const page = { shipments: [], nextPageToken: '' };
  await using waybill = await startApp(answerJson(page), { RATE_LIMIT_POINTS_PER_SECOND: '10' });
  const filtered = '{ shipments(first: 1, status: [DELIVERED]) { nodes { id } } }';
  expect((await waybill.ask(filtered, 'ana')).errors).toBeUndefined();
  // 1 point and 100 points of the 100 that ten seconds give.
  expect((await waybill.ask(filtered, 'ana')).errors).toMatchObject([{ code: 'RATE_LIMITED' }]);
  expect(waybill.calls()).toHaveLength(1);
});

test('a label costs ten points and is rejected without a call if no points are left', async () => {
  await using waybill = await startApp(
    (_request, response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF'),
    { RATE_LIMIT_POINTS_PER_SECOND: '1' },
  );
  const label = () => waybill.fetch('/labels/a.pdf', { headers: { authorization: 'Bearer ana' } });
  const first = await label();
  expect([first.status, await first.text()]).toEqual([200, '%PDF']);
  const refused = await label();
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.closeTo(9, -1)]);
  const { errors } = await refused.json();
  expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryable: true } }]);
  // Labels and operations have the same points.
  expect((await waybill.ask(orders(1), 'ana')).errors).toMatchObject([{ code: 'RATE_LIMITED' }]);
  expect(waybill.calls()).toEqual(['GET /v1/shipments/a/label']);
});

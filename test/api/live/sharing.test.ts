import type { IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type LiveClient, type LiveRequest, watchLive } from '../../fixtures/live-client.ts';
import { startApp } from '../../fixtures/start-app.ts';

const clients: LiveClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const balance = 'subscription { organization { balance { cents } } }';

const bearerOf = ({ headers }: IncomingMessage) => headers.authorization?.replace('Bearer ', '') ?? '';

/** A REST service whose balance is the number of reads with this token, plus the number that a token begins with. */
async function startCounting(environment: Record<string, string> = {}) {
  const reads = new Map<string, number>();
  const app = await startApp(
    (request, response) => {
      const bearer = bearerOf(request);
      const count = (reads.get(bearer) ?? 0) + 1;
      reads.set(bearer, count);
      const json = {
        name: 'organization/1',
        creditLimitCents: 0,
        balanceCents: Number.parseInt(bearer, 10) + count,
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    },
    { LIVE_INTERVAL_MS: '100', ...environment },
  );
  async function watch(bearer: string, request: Partial<LiveRequest> = {}): Promise<LiveClient> {
    const client = await watchLive(app.url, {
      query: balance,
      authorization: `Bearer ${bearer}`,
      ...request,
    });
    clients.push(client);
    return client;
  }
  return { app, reads, watch };
}

// Each response has this form.
const centsOf = (event: unknown) =>
  (event as { data: { organization: { balance: { cents: number } } } }).data.organization.balance.cents;

test('100 streams of one token share each run of the query, and miss no result', async () => {
  const { app, reads, watch } = await startCounting();
  await using _app = app;
  const watching = await Promise.all(Array.from({ length: 100 }, () => watch('0')));
  await Promise.all(watching.map((client) => client.event(6)));
  const seen = watching.map(({ events }) => events.map(centsOf));
  const latestFirst = Math.max(...seen.map(([first = 0]) => first));
  // Those who came first have seen the looks for the others, and all have seen each look since.
  for (const values of seen) {
    const [first = 0] = values;
    expect(values).toEqual(values.map((_value, index) => first + index));
    expect(values).toContain(latestFirst);
  }
  // A look is one call, whoever watches.
  const [reader] = watching;
  const last = reader?.events.length ?? 0;
  await reader?.event(last + 3);
  expect(reads.get('0')).toBeLessThanOrEqual(centsOf(reader?.events.at(-1)) + 1);
});

test('with ten tokens, each stream sees only the data of its own token', async () => {
  const { app, watch } = await startCounting();
  await using _app = app;
  const bearers = Array.from({ length: 10 }, (_, index) => String((index + 1) * 1_000_000));
  const watching = await Promise.all(
    bearers.flatMap((bearer) => [0, 1, 2].map(async () => ({ bearer, client: await watch(bearer) }))),
  );
  await Promise.all(watching.map(({ client }) => client.event(4)));
  for (const { bearer, client } of watching) {
    const values = client.events.map(centsOf);
    expect(values.every((cents) => Math.floor(cents / 1_000_000) * 1_000_000 === Number(bearer))).toBe(true);
    expect(values).toEqual([...values].sort((one, other) => one - other));
  }
});

const withVariable = 'subscription ($a: Boolean!) { organization { balance { cents @include(if: $a) } } }';

test.each([
  ['another document', { query: `${withVariable} # another`, variables: { a: true } }],
  ['other variables', { query: withVariable, variables: { a: false } }],
  [
    'the header x-upstream-cost',
    { query: withVariable, variables: { a: true }, headers: { 'x-upstream-cost': '1' } },
  ],
])('streams do not share a run of the query if one stream has %s', async (_what, request) => {
  const { app, reads, watch } = await startCounting({ LIVE_INTERVAL_MS: '3600000' });
  await using _app = app;
  const one = await watch('0', { query: withVariable, variables: { a: true } });
  await one.event(1);
  await (await watch('0', request)).event(1);
  expect(reads.get('0')).toBe(2);
  expect(one.events).toHaveLength(1);
});

test('streams share a run of the query if only the order of their variables differs', async () => {
  const { app, watch } = await startCounting({ LIVE_INTERVAL_MS: '3600000' });
  await using _app = app;
  const query =
    'subscription ($a: Boolean!, $b: Boolean!) { organization { balance { cents @include(if: $a) currency @include(if: $b) } } }';
  const one = await watch('0', { query, variables: { a: true, b: true } });
  await one.event(1);
  await (await watch('0', { query, variables: { b: true, a: true } })).event(1);
  // The look of the second one has changed what the first one sees.
  await one.event(2);
  await (await watch('0', { query, variables: { b: false, a: true } })).event(1);
  expect(one.events).toHaveLength(2);
});

test('no call is made after the last client has left', async () => {
  const { app, reads, watch } = await startCounting({ LIVE_INTERVAL_MS: '20' });
  await using _app = app;
  const watching = await Promise.all([watch('0'), watch('0')]);
  await Promise.all(watching.map((client) => client.event(2)));
  for (const client of watching) client.close();
  let before = -1;
  await expect
    .poll(
      () => {
        const now = reads.get('0') ?? 0;
        const isSame = now === before;
        before = now;
        return isSame;
      },
      { interval: 100 },
    )
    .toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(reads.get('0')).toBe(before);
});

test('a pending call is aborted when the last client leaves', async () => {
  let closed = false;
  await using app = await startApp((_request, response) => {
    response.once('close', () => {
      closed = true;
    });
  });
  const client = await watchLive(app.url, { query: balance, authorization: 'Bearer 0' });
  await expect.poll(() => app.calls().length, { timeout: 90_000 }).toBe(1);
  client.close();
  await expect.poll(() => closed, { timeout: 90_000 }).toBe(true);
  expect(app.reported).toEqual([]);
});

test('a run costs its points once for 20 streams, and waits if no points are left', async () => {
  const { app, reads, watch } = await startCounting({
    LIVE_INTERVAL_MS: '20',
    // The burst is ten looks. A further one is due every second.
    RATE_LIMIT_POINTS_PER_SECOND: '1',
  });
  await using _app = app;
  const watching = await Promise.all(Array.from({ length: 20 }, () => watch('0')));
  await Promise.all(watching.map((client) => client.event(1)));
  const [client] = watching;
  await client?.event(10);
  expect(client?.events.filter((event) => 'errors' in Object(event))).toEqual([]);
  expect(reads.get('0')).toBeGreaterThanOrEqual(10);
  // The points were not charged for each of 20 streams.
  expect(client?.end()).toBeUndefined();
});

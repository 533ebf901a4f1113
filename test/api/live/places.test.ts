import { afterEach, expect, test } from 'vitest';
import { type LiveClient, watchLive } from '../../fixtures/live-client.ts';
import { startApp } from '../../fixtures/start-app.ts';

const clients: LiveClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** A server for 20 streams, before a REST service that responds after `release`. */
async function startHeld() {
  const held = Promise.withResolvers<void>();
  const app = await startApp(
    async (_request, response) => {
      await held.promise;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ name: 'organization/1', creditLimitCents: 0, balanceCents: 7 }));
    },
    {
      MAX_CONNECTIONS: '40',
      LIVE_INTERVAL_MS: '3600000',
      OPERATION_TIMEOUT_MS: '120000',
      UPSTREAM_TIMEOUT_MS: '120000',
    },
  );
  async function watch(bearer: string): Promise<LiveClient> {
    const query = 'subscription { organization { balance { cents } } }';
    const client = await watchLive(app.url, { query, authorization: `Bearer ${bearer}` });
    clients.push(client);
    return client;
  }
  /** Expects that a stream of this token is refused, without a REST call. */
  async function expectRefusal(bearer: string, limit: string): Promise<void> {
    const before = app.calls();
    const refused = await watch(bearer);
    expect(await refused.ended()).toBe('complete');
    const message = `The server is at its limit of ${limit}. Retry later.`;
    expect(refused.events).toMatchObject([{ errors: [{ message, extensions: { code: 'OVERLOADED' } }] }]);
    expect(app.calls()).toEqual(before);
  }
  return { app, release: held.resolve, watch, expectRefusal };
}

const event = { data: { organization: { balance: { cents: 7 } } } };

test('streams leave their places to new tokens when REST has accepted their tokens', async () => {
  const { app, release, watch, expectRefusal } = await startHeld();
  await using _app = app;
  const watching: LiveClient[] = [];
  for (let number = 1; number <= 15; number += 1) watching.push(await watch(`token-${number}`));
  await expect.poll(() => app.calls().length, { timeout: 90_000 }).toBe(15);
  await expectRefusal('token-16', '15 streams for tokens that the REST service has not accepted yet');
  release();
  for (const client of watching) expect(await client.event(1)).toEqual(event);
  expect(await (await watch('token-16')).event(1)).toEqual(event);
});

test('streams that were open before REST accepted their token count to its limit', async () => {
  const { app, release, watch, expectRefusal } = await startHeld();
  await using _app = app;
  const watching: LiveClient[] = [];
  for (let count = 0; count < 12; count += 1) watching.push(await watch('token'));
  release();
  for (const client of watching) expect(await client.event(1)).toEqual(event);
  await expectRefusal('token', '10 streams for this token');
});

test('a stream leaves its place to a new token also if its first event is an error', async () => {
  let isAway = true;
  await using app = await startApp(
    (_request, response) => {
      response.writeHead(isAway ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ name: 'organization/1', creditLimitCents: 0, balanceCents: 7 }));
    },
    // Two streams, of which one may be of a token that REST has not accepted.
    { MAX_CONNECTIONS: '4', LIVE_INTERVAL_MS: '100' },
  );
  const query = 'subscription { organization { balance { cents } } }';
  async function watch(bearer: string): Promise<LiveClient> {
    const client = await watchLive(app.url, { query, authorization: `Bearer ${bearer}` });
    clients.push(client);
    return client;
  }
  const early = await watch('token-1');
  expect(await early.event(1)).toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] });
  isAway = false;
  expect(await early.event(2)).toEqual(event);
  expect(await (await watch('token-2')).event(1)).toEqual(event);
});

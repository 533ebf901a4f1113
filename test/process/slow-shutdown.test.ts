import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { answerJson, startService, until } from '../fixtures/rest-service.ts';
import { startProcess } from '../fixtures/server-process.ts';

const ended = { code: 0, signal: null, errors: '' };
const organization = { name: 'organization/a', balanceCents: 0, creditLimitCents: 0 };
/** So long that none of these tests would wait for it. */
const forLong = '600000';

const ask = async (url: URL, query: string) => {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
    body: JSON.stringify({ query }),
  });
  return response.json();
};

describe('the shutdown', () => {
  test('does not wait for a background refresh of reference data', async () => {
    let isHolding = false;
    await using service = await startService((request, response, body) => {
      if (!isHolding) answerJson({ origins: [{ name: 'origins/1' }] })(request, response, body);
    });
    const server = await startProcess(service, { REFERENCE_DATA_MS: '1', UPSTREAM_TIMEOUT_MS: forLong });
    const query = '{ origins { nodes { id } } }';
    const answer = { data: { origins: { nodes: [{ id: 'origins/1' }] } } };
    expect(await ask(server.url, query)).toEqual(answer);
    isHolding = true;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await ask(server.url, query)).toEqual(answer);
    await until(() => service.requests.length === 2);
    server.signal('SIGTERM');
    expect(await server.exit).toEqual(ended);
  });

  test('does not wait for a trace collector that does not respond', async () => {
    await using service = await startService(answerJson(organization));
    await using collector = await startService(() => {});
    const server = await startProcess(service, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.href.replace(/\/$/, ''),
      OTEL_EXPORTER_OTLP_TIMEOUT: forLong,
    });
    await ask(server.url, '{ organization { id } }');
    server.signal('SIGTERM');
    expect(await server.exit).toEqual(ended);
    expect(collector.requests.map(({ line }) => line)).toEqual(['POST /v1/traces']);
  });
});

describe('a server whose log is not read', () => {
  /** A server of whose log more waits than its reader's side takes; it holds the calls for the record `held`. */
  async function startUnread() {
    const service = await startService((request, response, body) => {
      const name = request.url?.replace('/v1/', '');
      if (name !== 'orders/held') answerJson({ name })(request, response, body);
    });
    const server = await startProcess(service, { LOG_LEVEL: 'debug' });
    server.child.stdout.pause();
    const exit = once(server.child, 'exit');
    // A line for each of its calls, which are 20, as many as one operation may have at its root.
    const orders = Array.from(Array(20), (_, index) => `o${index}: order(id: "o${index}") { id }`);
    for (let times = 0; times < 120; times += 1) await ask(server.url, `{ ${orders.join(' ')} }`);
    expect(service.requests.length).toBeGreaterThanOrEqual(2_400);
    return { ...server, exit, service, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  }

  test('exits with code 0 on SIGTERM', async () => {
    await using server = await startUnread();
    server.signal('SIGTERM');
    expect(await server.exit).toEqual([0, null]);
  });

  test('exits with code 1 on a second signal', async () => {
    await using server = await startUnread();
    const asked = ask(server.url, '{ order(id: "held") { id } }').catch(() => 'cut off');
    await until(() => server.service.requests.at(-1)?.line === 'GET /v1/orders/held');
    server.signal('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 400));
    server.signal('SIGTERM');
    expect(await server.exit).toEqual([1, null]);
    expect(await asked).toBe('cut off');
  });
});

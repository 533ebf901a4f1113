import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startMain } from '../fixtures/main-process.ts';
import { inputFor, literal } from '../fixtures/mutation-inputs.ts';
import { isPostgresMissing, newSchema, type Postgres, sharedPostgres } from '../fixtures/postgres.ts';

const sandbox = await startSandbox();
afterAll(() => sandbox.close());
const live = { UPSTREAM_URL: sandbox.url, METRICS: 'yes' };

async function post(url: string, query: string) {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.tokens.first}` },
    body: JSON.stringify({ query }),
  });
  return response.json();
}
const urlOf = (banner: string) => /http:\/\/[^/]+/.exec(banner)?.[0] ?? '';
const keyed = `mutation { createOrder(input: ${literal({ ...inputFor('createOrder'), idempotencyKey: 'key' })}) { __typename } }`;

test('a server that starts while PostgreSQL is unreachable serves what needs no store', async () => {
  const port = await freePort();
  const main = startMain({ ...live, STATE_URL: `postgres://waybill:s3cret@127.0.0.1:${port}/shop` });
  const banner = await main.banner();
  const problem = 'PostgreSQL cannot be reached (ECONNREFUSED). Check the server and its network.';
  expect(banner).toContain(
    `Keys      in schema waybill of postgres://127.0.0.1:${port}/shop. WARNING: ${problem}\n`,
  );
  const url = urlOf(banner);
  expect(await (await fetch(new URL('/health/ready', url))).json()).toEqual({ status: 'ready', problem });
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toContain('waybill_key_store_problem{kind="failure"} 1');
  expect(await post(url, '{ organization { id } }')).toEqual({
    data: { organization: { id: 'organization/cafe-andino' } },
  });
  sandbox.requests.clear();
  const { data, errors } = await post(url, keyed);
  expect(data).toEqual({ createOrder: null });
  expect(errors).toMatchObject([{ message: problem, extensions: { code: 'OVERLOADED', retryable: true } }]);
  expect(sandbox.requests.lines().filter((line) => line.startsWith('POST'))).toEqual([]);
  main.signal('SIGTERM');
  expect(await main.exit).toEqual({ code: 0, signal: null, errors: '' });
  const lines = main.output();
  expect(lines.match(/the key store has a problem/g)).toHaveLength(1);
  expect(lines.match(/the key store works again/g)).toHaveLength(1);
  expect(lines + metrics).not.toContain('s3cret');
});

describe.skipIf(isPostgresMissing)('with a PostgreSQL server', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await sharedPostgres();
  });

  test('two servers with one STATE_URL run a keyed write once, and ignore STATE_FILE', async () => {
    const settings = { ...live, STATE_URL: server.url(`?schema=${newSchema()}`), STATE_FILE: '/nosuch/file' };
    const mains = [startMain(settings), startMain(settings)];
    const banners = await Promise.all(mains.map((main) => main.banner()));
    for (const banner of banners)
      expect(banner).toMatch(/^Keys {6}in schema \w+ of postgres:.*, and not in STATE_FILE$/m);
    sandbox.requests.clear();
    const answers = await Promise.all(banners.map((banner) => post(urlOf(banner), keyed)));
    expect(answers).toEqual(Array(2).fill({ data: { createOrder: { __typename: 'CreateOrderSuccess' } } }));
    expect(sandbox.requests.lines().filter((line) => line === 'POST /v1/orders')).toHaveLength(1);
    for (const main of mains) main.signal('SIGTERM');
    for (const main of mains) expect(await main.exit).toEqual({ code: 0, signal: null, errors: '' });
  });

  test('a wrong database stops the start with one line, without the password', async () => {
    const { exit, output } = startMain({
      ...live,
      STATE_URL: `postgres://postgres:s3cret@127.0.0.1:${server.port}/nosuch`,
    });
    expect(await exit).toEqual({
      code: 1,
      signal: null,
      errors:
        'STATE_URL: PostgreSQL has no such database. Correct the name in STATE_URL, or create the database. Waybill ' +
        `tried to use schema waybill of postgres://127.0.0.1:${server.port}/nosuch as postgres (database "nosuch" does not exist).\n`,
    });
    expect(output()).toBe('');
  });
});

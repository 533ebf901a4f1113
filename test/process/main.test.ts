import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { waybill } from '../../bench/peers/servers.ts';
import { startMain } from '../fixtures/main-process.ts';
import { answerJson, startService, until } from '../fixtures/rest-service.ts';

const root = resolve(import.meta.dirname, '../..');
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const ordersQuery = '{ orders(first: 3) { nodes { id status recipient { fullName } } } }';

/** The server with just these settings, and what its banner says. */
function startServer(environment: Record<string, string>, nodeOptions: string[] = []) {
  const main = startMain(environment, nodeOptions);
  const exit = main.exit.then((end) => ({ ...end, output: main.output() }));
  return {
    exit,
    async banner() {
      await main.banner();
      const text = main.output();
      const [graphiql = ''] = /http:\S+/.exec(text) ?? [];
      const [, curl = ''] = /^Try {7}(curl .*)$/ms.exec(text) ?? [];
      return { text, graphql: new URL(graphiql), curl };
    },
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      main.signal(signal);
      return exit;
    },
  };
}

describe.concurrent('the start with invalid settings', () => {
  test('reports several invalid settings together', async () => {
    const main = startServer({ PORT: 'x', CURRENCY: 'pesos', UPSTREAM_URL: 'ftp://rest.example' });
    expect(await main.exit).toEqual({
      code: 1,
      signal: null,
      output: '',
      errors: [
        'The environment has invalid settings:',
        '  PORT: expected a whole number from 0 to 65535, but got "x".',
        '  UPSTREAM_URL: expected "sandbox", or an http or https URL without query, fragment or credentials, but got "ftp://rest.example".',
        '  CURRENCY: expected an ISO 4217 code of three capital letters, but got "pesos".',
        '',
      ].join('\n'),
    });
  });

  test('suggests a name for a misspelled setting', async () => {
    const main = startServer({ UPSTREAM_URLL: 'http://127.0.0.1:1' });
    expect(await main.exit).toEqual({
      code: 1,
      signal: null,
      output: '',
      errors:
        'The environment has invalid settings:\n' +
        '  UPSTREAM_URLL: unknown setting; did you mean UPSTREAM_URL?\n',
    });
  });

  test('requires UPSTREAM_URL in production', async () => {
    const main = startServer({ NODE_ENV: 'production' });
    expect(await main.exit).toEqual({
      code: 1,
      signal: null,
      output: '',
      errors:
        'The environment has invalid settings:\n' +
        '  UPSTREAM_URL: required because NODE_ENV is "production". Set UPSTREAM_URL to the address of the REST service, or to "sandbox".\n',
    });
  });

  test('reports a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const main = startServer({ PORT: `${port}`, UPSTREAM_URL: 'http://127.0.0.1:1' });
      expect(await main.exit).toMatchObject({
        code: 1,
        output: '',
        errors:
          `PORT: port ${port} of 127.0.0.1 is in use. ` +
          'Stop the other process, or set PORT to another port.\n',
      });
    } finally {
      other.close();
    }
  });

  test.each(['192.0.2.1', 'waybill.invalid', '2001:db8::1'])(
    'reports a HOST that is not an address of this machine: %s',
    async (HOST) => {
      const main = startServer({ HOST, UPSTREAM_URL: 'http://127.0.0.1:1' });
      expect(await main.exit).toMatchObject({
        code: 1,
        output: '',
        errors:
          `HOST: "${HOST}" is not an address of this machine. ` +
          'Set HOST to 127.0.0.1, or to 0.0.0.0 for every IPv4 address.\n',
      });
    },
  );

  test('reports a METRICS_PORT that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const main = startServer({ METRICS_PORT: `${port}`, UPSTREAM_URL: 'http://127.0.0.1:1' });
      expect(await main.exit).toMatchObject({
        code: 1,
        output: '',
        errors:
          `METRICS_PORT: port ${port} of 127.0.0.1 is in use. ` +
          'Stop the other process, or set METRICS_PORT to another port.\n',
      });
    } finally {
      other.close();
    }
  });

  test('rejects a SANDBOX_FILE that is not a file of the sandbox', async () => {
    const main = startServer({ SANDBOX_FILE: `${root}/package.json` });
    expect(await main.exit).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringMatching(
        /^SANDBOX_FILE: the embedded sandbox cannot use \/.*\/package\.json\. [^\n]+\n$/,
      ),
    });
  });
});

describe.concurrent('a server with a live service', () => {
  const orders = {
    orders: [{ name: 'orders/7', status: 'NEW', recipient: { firstName: 'Ana', lastName: 'Ruiz' } }],
  };

  test('serves metrics only on METRICS_PORT', async () => {
    await using service = await startService(answerJson({ name: 'organization/1' }));
    const main = startServer({ UPSTREAM_URL: service.url.href, METRICS_PORT: '0', LOG_LEVEL: 'error' });
    const { graphql, text } = await main.banner();
    const metrics = /^Metrics {3}(.+)$/m.exec(text)?.[1] ?? '';
    await (
      await fetch(graphql, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
        body: JSON.stringify({ query: '{ organization { id } }' }),
      })
    ).text();
    const page = await (await fetch(metrics)).text();
    expect(page).toContain('waybill_operation_duration_seconds_count{type="query",outcome="ok"} 1\n');
    expect(page).toContain(
      'waybill_rest_drift_total{coordinate="Organization.balanceCents",kind="missing"} 1\n',
    );
    expect(page).toMatch(/^process_cpu_seconds_total \d/m);
    expect((await fetch(new URL('/metrics', graphql))).status).toBe(404);
    expect(await main.stop()).toMatchObject({ code: 0, signal: null, errors: '' });
  });

  test('answers /health/live on METRICS_PORT while PORT has MAX_CONNECTIONS', async () => {
    const main = startServer({ UPSTREAM_URL: 'http://127.0.0.1:1', METRICS_PORT: '0', MAX_CONNECTIONS: '1' });
    const { graphql, text } = await main.banner();
    const metrics = /^Metrics {3}(.+)$/m.exec(text)?.[1] ?? '';
    const socket = connect(Number(graphql.port), graphql.hostname);
    await once(socket, 'connect');
    await expect(fetch(new URL('/health/live', graphql))).rejects.toThrow('fetch failed');
    expect((await fetch(new URL('/health/live', metrics))).status).toBe(200);
    socket.destroy();
    await main.stop();
  });

  test('prints the addresses, the key store and a curl command at the start', async () => {
    await using service = await startService(answerJson(orders));
    const main = startServer({ UPSTREAM_URL: `${service.url.href}base` });
    const { text, graphql } = await main.banner();
    expect(text).toBe(
      [
        `GraphiQL  http://127.0.0.1:${graphql.port}/graphql`,
        `REST      the live service at ${service.url.href}base (responds)`,
        'Keys      in memory: a restart loses them (see STATE_FILE)',
        `Try       curl -s http://127.0.0.1:${graphql.port}/graphql -H 'content-type: application/json' \\`,
        `            -H 'authorization: Bearer <access token>' -d '{"query":"${ordersQuery}"}'`,
        '',
      ].join('\n'),
    );
    // The check of REST at the start.
    expect(service.connections).toBe(1);

    const response = await fetch(graphql, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
      body: JSON.stringify({ query: ordersQuery }),
    });
    expect(await response.json()).toEqual({
      data: { orders: { nodes: [{ id: 'orders/7', status: 'NEW', recipient: { fullName: 'Ana Ruiz' } }] } },
    });
    expect(service.requests.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['GET /base/v1/orders?pageSize=3', 'Bearer secret-token'],
    ]);
    expect(await main.stop()).toMatchObject({ code: 0, signal: null, errors: '' });
  });

  test.each([
    [
      200,
      'WARNING: GET /v1/orders without a token returned 200 instead of 401 or 403, so this may be another service or a wrong path. Check UPSTREAM_URL',
    ],
    [
      404,
      'WARNING: GET /v1/orders without a token returned 404 instead of 401 or 403, so this may be another service or a wrong path. Check UPSTREAM_URL',
    ],
    [503, 'GET /v1/orders without a token returned 503; the server starts anyway'],
    [408, 'GET /v1/orders without a token returned 408; the server starts anyway'],
    [403, 'responds'],
  ])('prints at the start how the service responds without a token: %i', async (status, state) => {
    await using service = await startService(answerJson({}, status), true);
    const main = startServer({ UPSTREAM_URL: service.url.href });
    const { text } = await main.banner();
    expect(text).toContain(`the live service at ${service.url.href} (${state})\n`);
    await main.stop();
  });

  test.each([
    ['UPSTREAM_URL', {}, 'rest.example:8443'],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://shop.example/api' }, 'shop.example'],
  ])('shows the host of %s in GraphiQL', async (_setting, environment, host) => {
    const main = startServer({ UPSTREAM_URL: 'https://rest.example:8443/v1', ...environment });
    const { text } = await main.banner();
    const graphql = `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(text)?.[1]}/graphql`;
    const page = await (await fetch(graphql, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain(`{"liveHost":"${host}",`);
    expect(await main.stop()).toMatchObject({ code: 0 });
  });

  test('starts even if the service does not respond within two seconds', async () => {
    await using service = await startService(() => {}, true);
    const main = startServer({ UPSTREAM_URL: service.url.href });
    const { text, graphql } = await main.banner();
    expect(text).toContain(
      `the live service at ${service.url.href} (does not respond: no response within 2000 ms; the server starts anyway)\n`,
    );
    expect((await fetch(new URL('/health/live', graphql))).status).toBe(200);
    expect(await main.stop()).toMatchObject({ code: 0, signal: null, errors: '' });
  });

  describe.each([
    ['on SIGTERM', 'SIGTERM', 0, []],
    // Of the server's own making: nothing from outside makes it throw where nobody catches it.
    [
      'after an uncaught error',
      'SIGUSR2',
      1,
      ["process.on('SIGUSR2', () => { throw new Error('a fault') })"],
    ],
  ] as const)('that exits %s', (_when, signal, code, [imported]) => {
    test('loses no log line', async ({ expect }) => {
      await using service = await startService(answerJson({ orders: [] }));
      const options = imported === undefined ? [] : ['--import', `data:text/javascript,${imported}`];
      const main = startServer({ UPSTREAM_URL: service.url.href }, options);
      const { graphql, text } = await main.banner();
      const ask = async (requestId: string) => {
        const response = await fetch(graphql, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: 'Bearer secret-token',
            'x-request-id': requestId,
          },
          body: JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' }),
        });
        await response.text();
      };
      const requestIds = Array.from(Array(50), (_, index) => `request-${index}`);
      for (const requestId of requestIds) await ask(requestId);
      const end = await main.stop(signal);
      expect([end.code, end.signal]).toEqual([code, null]);
      expect(end.output.startsWith(text)).toBe(true);
      const lines = end.output.slice(text.length).split('\n');
      expect(lines.pop()).toBe('');
      const written = lines.map((line) => JSON.parse(line));
      // At an uncaught error, the last lines may overtake a write that still runs.
      expect(written.flatMap(({ requestId }) => requestId ?? []).toSorted()).toEqual(requestIds.toSorted());
      const ends = written.map(({ msg }) => msg).filter((msg) => msg.startsWith('the server '));
      const shutdown = ['the server is shutting down', 'the server has shut down'];
      expect(ends).toEqual(signal === 'SIGTERM' ? shutdown : []);
    });
  });

  test('writes no log line below LOG_LEVEL', async () => {
    await using service = await startService(answerJson(orders));
    const main = startServer({ UPSTREAM_URL: service.url.href, LOG_LEVEL: 'warn' });
    const { graphql, text } = await main.banner();
    await fetch(new URL('?query={__typename}', graphql), { headers: { accept: 'application/json' } });
    expect(await main.stop()).toEqual({ code: 0, signal: null, output: text, errors: '' });
  });

  test('exits with code 0 on SIGTERM after the running request', async ({ expect }) => {
    let answer = () => {};
    await using service = await startService((request, response, body) => {
      answer = () => answerJson(orders)(request, response, body);
    });
    const main = startServer({ UPSTREAM_URL: service.url.href });
    const { graphql } = await main.banner();
    const ask = () =>
      fetch(graphql, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
        body: JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' }),
      });
    const runningRequest = ask();
    await until(() => service.requests.length === 1);
    const end = main.stop();
    await expect
      .poll(() =>
        fetch(new URL('/', graphql), { headers: { connection: 'close' } }).then(
          () => 'served',
          () => 'refused',
        ),
      )
      .toBe('refused');
    answer();
    expect(await (await runningRequest).json()).toEqual({
      data: { orders: { nodes: [{ id: 'orders/7' }] } },
    });
    expect(await end).toMatchObject({ code: 0, signal: null, errors: '' });
  });
});

describe('a server with the embedded sandbox', () => {
  let main: ReturnType<typeof startServer>;
  let banner: Awaited<ReturnType<typeof main.banner>>;
  beforeAll(async () => {
    main = startServer({});
    banner = await main.banner();
  });

  test('prints the start text', async () => {
    expect(banner.text).toMatch(/^REST {6}the embedded sandbox at http:\/\/127\.0\.0\.1:\d+$/m);
    expect(banner.curl).toContain("-H 'authorization: Bearer sandbox-cafe-andino'");
    const page = await fetch(banner.graphql, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).not.toContain('liveHost":');
  });

  test.skipIf(!hasCurl)('prints a curl command that works in a shell', async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', banner.curl]);
    const recipient = { fullName: expect.stringMatching(/\S+ \S+/) };
    const status = expect.stringMatching(/^[A-Z_]+$/);
    expect(JSON.parse(stdout)).toEqual({
      data: {
        orders: {
          nodes: ['orders/ca2500', 'orders/ca2499', 'orders/ca2498'].map((id) => ({ id, status, recipient })),
        },
      },
      extensions: { upstream: expect.objectContaining({ calls: 1 }) },
    });
  });

  test('exits with code 0 on SIGTERM', async () => {
    expect(await main.stop()).toMatchObject({ code: 0, signal: null, errors: '' });
  });
});

describe('the embedded sandbox in production', () => {
  test('serves requests', async () => {
    const main = startServer({ NODE_ENV: 'production', UPSTREAM_URL: 'sandbox' });
    const { text, graphql, curl } = await main.banner();
    expect(text).toMatch(/^REST {6}the embedded sandbox at http:\/\/127\.0\.0\.1:\d+$/m);
    expect(curl).toContain("-H 'authorization: Bearer sandbox-cafe-andino'");
    const response = await fetch(graphql, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox-cafe-andino' },
      body: JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' }),
    });
    expect(await response.json()).toEqual({
      data: { orders: { nodes: [{ id: 'orders/ca2500' }] } },
      extensions: { upstream: expect.objectContaining({ calls: 1 }) },
    });
    expect((await fetch(new URL('/metrics', graphql))).status).toBe(200);
    expect(await main.stop()).toMatchObject({ code: 0, signal: null, errors: '' });
  });
});

describe('the check of the Node version', () => {
  // As Node says its own version in the first place.
  const pretending = (version: string) => {
    const versions = `{ ...process.versions, node: '${version}' }`;
    const code = `Object.defineProperty(process, 'versions', { value: ${versions} })`;
    return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
  };

  const refusal = (version: string) => ({
    code: 1,
    signal: null,
    output: '',
    errors:
      `Waybill needs Node 24 or newer, but this is Node ${version}. ` +
      'Install Node 24, or run "npm ci", which installs it for this project.\n',
  });

  test.each(['9.11.2', '20.20.2', '23.11.1'])('rejects %s with one line', async (version) => {
    expect(await startServer({ PORT: 'x' }, pretending(version)).exit).toEqual(refusal(version));
  });

  test.each(['24.0.0', '100.0.0'])('accepts %s', async (version) => {
    const { errors } = await startServer({ PORT: 'x' }, pretending(version)).exit;
    expect(errors).toMatch(/^The environment has invalid settings:\n {2}PORT: /);
  });

  // The flags of `npm start` must be known to the older Node too.
  const older = olderNode();
  test.skipIf(older === undefined)('rejects the older Node of this machine, if there is one', () => {
    const { command = '', version = '' } = older ?? {};
    const { status, stdout, stderr } = spawnSync(command, waybill.args, { cwd: root, encoding: 'utf8' });
    expect({ code: status, signal: null, output: stdout, errors: stderr }).toEqual(refusal(version));
  });
});

/** The first Node of the PATH that is older than 24; undefined if there is none. */
function olderNode() {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  return folders
    .map((folder) => {
      const command = join(folder, 'node');
      const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' });
      return { command, version: status === 0 ? stdout.trim().slice(1) : '' };
    })
    .find(({ version }) => version !== '' && Number.parseInt(version, 10) < 24);
}

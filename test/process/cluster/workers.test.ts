import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, answerAsPromised, startService, until } from '../../fixtures/rest-service.ts';
import { post, startWorkers } from '../../fixtures/workers-process.ts';

const outcome = (asked: Promise<Response>) =>
  asked.then(
    (response) => response.status,
    () => 'refused',
  );

/** Holds the responses to calls for an order until `release`. */
function holding() {
  const waiting: (() => void)[] = [];
  const answer: Answer = (request, ...given) => {
    const finish = () => answerAsPromised(request, ...given);
    return request.url?.startsWith('/v1/orders/') ? waiting.push(finish) : finish();
  };
  const release = () => {
    for (const finish of waiting.splice(0)) finish();
  };
  return { waiting, answer, release };
}

// Each starts three processes and more.
const slow = { timeout: 60_000 };

describe('two workers with the sandbox', slow, () => {
  const server = startWorkers();
  let at: Awaited<ReturnType<typeof server.listening>>;
  const bearer = { authorization: 'Bearer sandbox-cafe-andino' };
  beforeAll(async () => {
    at = await server.listening();
  });

  test('print one start text', () => {
    const { origin } = at;
    expect(at.banner.split('\n').map((line) => line.replace(/:\d+$/, ''))).toEqual([
      `GraphiQL  ${origin}/graphql`,
      'REST      the embedded sandbox at http://127.0.0.1',
      `Metrics   ${origin}/metrics`,
      'Keys      in memory: a restart loses them (see STATE_FILE)',
      'Workers   2',
      `Try       curl -s ${origin}/graphql -H 'content-type: application/json' \\`,
      expect.stringContaining('sandbox-cafe-andino'),
      '',
    ]);
  });

  test('share the requests and return the same data', async () => {
    const workers = await server.workers();
    expect(workers.map(({ worker }) => worker).sort()).toEqual([1, 2]);
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) {
      const answer = await post(at.graphql, '{ organization { id } }', { ...bearer, 'x-request-id': id });
      expect(await answer.json()).toMatchObject({
        data: { organization: { id: 'organization/cafe-andino' } },
      });
    }
    const answered = () => server.lines().filter(({ msg }) => msg === 'answered');
    await until(() => answered().length === ids.length);
    expect(new Set(answered().map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    expect(new Set(answered().map((line) => (line as { tenant?: string }).tenant)).size).toBe(1);
  });

  test('each serve the summed metrics of both workers', async () => {
    const counted = 'waybill_operation_duration_seconds_count{type="query",outcome="ok"} ';
    const page = async () =>
      (await fetch(new URL('/metrics', at.origin), { headers: { connection: 'close' } })).text();
    const [first, second] = [await page(), await page()];
    for (const text of [first, second]) {
      expect(text).toContain(`${counted}4\n`);
      expect(text).toContain('waybill_requests_in_flight{route="other"} 1\n');
      expect(text).toMatch(/^process_cpu_seconds_total \d/m);
      expect(text).toMatch(/^nodejs_version_info\{.*\} 1$/m);
    }
  });

  test('are both ready', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect(await outcome(fetch(new URL('/health/ready', at.origin)))).toBe(200);
    }
  });

  test('exit with code 0 on SIGTERM', async () => {
    server.signal('SIGTERM');
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
  });
});

describe('two workers with a live service', slow, () => {
  test('exit with code 0 on SIGTERM after running requests', async () => {
    const { waiting, answer, release } = holding();
    await using service = await startService(answer);
    const server = startWorkers({ UPSTREAM_URL: service.url.href });
    const { graphql } = await server.listening();
    const asked = Array.from({ length: 20 }, (_, index) =>
      post(graphql, `{ order(id: "o${index}") { id } }`),
    );
    await until(() => waiting.length === 20);
    server.signal('SIGTERM');
    // A request that arrives just when the last worker stops listening gets no response.
    const live = () =>
      outcome(
        fetch(new URL('/health/live', graphql), {
          headers: { connection: 'close' },
          signal: AbortSignal.timeout(500),
        }),
      );
    await expect.poll(live).toBe('refused');
    release();
    const answers = await Promise.all(asked.map(async (response) => (await response).json()));
    expect(answers).toEqual(
      Array.from({ length: 20 }, (_, index) => ({ data: { order: { id: `orders/o${index}` } } })),
    );
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
    const answered = server.lines().filter(({ msg }) => msg === 'answered');
    expect(answered).toHaveLength(20);
    expect(new Set(answered.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  });

  test('together make at most UPSTREAM_CONNECTIONS calls at a time', async () => {
    const { waiting, answer, release } = holding();
    await using service = await startService(answer);
    const server = startWorkers({ UPSTREAM_URL: service.url.href, UPSTREAM_CONNECTIONS: '8' });
    const { graphql } = await server.listening();
    const asked = Array.from({ length: 20 }, (_, index) =>
      outcome(post(graphql, `{ order(id: "o${index}") { id } }`)),
    );
    // A new token gets a part of the slots of each worker.
    await until(() => waiting.length >= 4);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(waiting.length).toBeLessThanOrEqual(8);
    const releasing = setInterval(release, 20);
    expect(await Promise.all(asked)).toEqual(Array(20).fill(200));
    clearInterval(releasing);
    server.signal('SIGTERM');
    await server.exit;
  });

  test('exit with code 1 on a second signal', async () => {
    const { waiting, answer } = holding();
    await using service = await startService(answer);
    const server = startWorkers({ UPSTREAM_URL: service.url.href });
    const { graphql } = await server.listening();
    const workers = await server.workers();
    const asked = outcome(post(graphql, '{ order(id: "a") { id } }'));
    await until(() => waiting.length === 1);
    server.signal('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 400));
    server.signal('SIGTERM');
    expect(await server.exit).toEqual({ code: 1, signal: null, errors: '' });
    expect(await asked).toBe('refused');
    await until(() => workers.every(({ pid }) => isGone(pid)));
  });
});

test('the counters of a killed worker are kept after its replacement', slow, async () => {
  await using service = await startService(answerAsPromised);
  const server = startWorkers({ UPSTREAM_URL: service.url.href, METRICS_PORT: '0' });
  const { banner, graphql } = await server.listening();
  const [first] = await server.workers();
  const metrics = /^Metrics {3}(.+)$/m.exec(banner)?.[1] ?? '';
  const maxFiles = async () => /^process_max_fds (\d+)$/m.exec(await (await fetch(metrics)).text())?.[1];
  const counted = async () =>
    /_count\{type="query",outcome="ok"\} (\d+)$/m.exec(await (await fetch(metrics)).text())?.[1];
  for (let time = 0; time < 4; time += 1) expect((await post(graphql, '{ __typename }')).status).toBe(200);
  expect(await counted()).toBe('4');
  expect(await outcome(post(new URL('/metrics', graphql), ''))).toBe(404);
  const ofTwo = await maxFiles();
  process.kill(Number(first?.pid), 'SIGKILL');
  const [, , third] = await server.workers(3);
  expect(third?.worker).toBe(3);
  expect(server.lines()).toContainEqual(
    expect.objectContaining({ level: 'warn', worker: first?.worker, code: null, signal: 'SIGKILL' }),
  );
  expect(await counted()).toBe('4');
  expect(await maxFiles()).toBe(ofTwo);
  for (let time = 0; time < 4; time += 1) expect((await post(graphql, '{ __typename }')).status).toBe(200);
  expect(await counted()).toBe('8');
  server.signal('SIGTERM');
  expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
});

test('workers that receive SIGTERM are replaced without a failed request', slow, async () => {
  const { waiting, answer, release } = holding();
  await using service = await startService(answer);
  const server = startWorkers({ UPSTREAM_URL: service.url.href, DRAIN_WAIT_MS: '600000' });
  const { graphql } = await server.listening();
  const workers = await server.workers();
  const asked = [1, 2].map((id) => post(graphql, `{ order(id: "o${id}") { id } }`));
  await until(() => waiting.length === 2);
  for (const { pid } of workers) process.kill(pid, 'SIGTERM');
  const ready = () => fetch(new URL('/health/ready', graphql), { headers: { connection: 'close' } });
  const seen = new Set<number>();
  while (server.lines().filter(({ msg }) => msg === 'a worker accepts requests').length < 4) {
    seen.add((await post(graphql, '{ __typename }')).status);
    seen.add((await ready()).status);
  }
  expect(seen).toEqual(new Set([200]));
  release();
  const answers = await Promise.all(asked.map(async (response) => (await response).json()));
  expect(answers).toEqual([1, 2].map((id) => ({ data: { order: { id: `orders/o${id}` } } })));
  await until(() => workers.every(({ pid }) => isGone(pid)));
  expect((await post(graphql, '{ __typename }')).status).toBe(200);
  const [, , third, fourth] = await server.workers(4);
  server.signal('SIGKILL');
  expect(await server.exit).toEqual({ code: null, signal: 'SIGKILL', errors: '' });
  await until(() => [third, fourth].every((one) => isGone(Number(one?.pid))));
});

/** Returns whether the process has exited. */
function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

describe('workers that cannot start', slow, () => {
  test('report one error if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const server = startWorkers({ PORT: `${port}`, UPSTREAM_URL: 'http://127.0.0.1:1' });
      expect(await server.exit).toEqual({
        code: 1,
        signal: null,
        errors:
          `PORT: port ${port} of 127.0.0.1 is in use. ` +
          'Stop the other process, or set PORT to another port.\n',
      });
    } finally {
      other.close();
    }
  });

  test('report an invalid document in OPERATIONS_FILE', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waybill-'));
    try {
      const file = join(folder, 'operations.json');
      await writeFile(file, '{ "a": "{ nothing }" }');
      const server = startWorkers({ OPERATIONS_FILE: file, UPSTREAM_URL: 'http://127.0.0.1:1' });
      expect(await server.exit).toEqual({
        code: 1,
        signal: null,
        errors:
          "OPERATIONS_FILE: 1 of 1 document can't be run:\n" +
          '  "a": Cannot query field "nothing" on type "Query".\n',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('report that there are fewer upstream connections than workers', async () => {
    const server = startWorkers({ WORKERS: '3', UPSTREAM_CONNECTIONS: '2' });
    expect(await server.exit).toEqual({
      code: 1,
      signal: null,
      errors:
        'The environment has invalid settings:\n' +
        '  WORKERS, UPSTREAM_CONNECTIONS: expected at least one connection for each worker, but got "3", "2".\n',
    });
  });

  test('make the server exit with code 1 if they replace a killed worker', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waybill-'));
    try {
      const flag = join(folder, 'flag');
      const code = `import { existsSync } from 'node:fs';
        if (process.send !== undefined && existsSync(${JSON.stringify(flag)})) process.exit(7);`;
      await using service = await startService(answerAsPromised);
      const server = startWorkers({ UPSTREAM_URL: service.url.href }, [
        '--import',
        `data:text/javascript,${encodeURIComponent(code)}`,
      ]);
      await server.listening();
      const [first] = await server.workers();
      await writeFile(flag, '');
      process.kill(Number(first?.pid), 'SIGKILL');
      expect(await server.exit).toEqual({
        code: 1,
        signal: null,
        errors:
          'WORKERS: a worker exited, and its replacement could not start.\n' +
          'A worker exited with code 7 while it started.\n',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

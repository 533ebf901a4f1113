import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { isInputObjectType, isObjectType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { environmentExample, withSettingTables } from '../src/config/configuration-page.ts';
import { settingPrefixes } from '../src/config/unknown-settings.ts';
import { schema } from '../src/graph/schema.ts';
import { callRoute } from '../src/rest/call.ts';
import { startSandbox } from '../src/sandbox/sandbox.ts';
import { fixedLimits } from '../src/server/limits/limits.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import {
  type CodeBlock,
  codeBlockOf,
  codeSpansIn,
  parsePage,
  readPage,
  rowsOf,
  sectionOf,
  sentencesOf,
  wordsOf,
} from './fixtures/markdown.ts';
import { isPostgresMissing, sharedPostgres } from './fixtures/postgres.ts';
import { recordedLog } from './fixtures/recorded-log.ts';
import { startCommand } from './fixtures/shell-command.ts';
import { startWaybill } from './harness.ts';
import { endpoints } from './rest/endpoints.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const paths = globSync(
  ['*.md', 'docs/**/*.md', 'src/**/*.md', 'bench/*.md', 'bench/results/*.md', 'examples/*/*.md'],
  {
    cwd: root,
  },
).sort();
const pages = paths.map(readPage);

/** Pages that state what was true at one date. */
const isDated = (path: string) => path === 'CHANGELOG.md' || path.startsWith('bench/results/');

/** What the group of a pattern matches in the files of a glob below the root. */
function matches(glob: string, pattern: RegExp): string[] {
  return globSync(glob, { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([, match = '']) => match),
  );
}

test('each group of readers has a documentation page', () => {
  const expected = [
    'README.md',
    'docs/api.md',
    'docs/api-reference.md',
    'docs/clients.md',
    'docs/es/inicio.md',
    'docs/operations/deploy.md',
    'docs/operations/behave.md',
    'docs/operations/observe.md',
    'docs/architecture.md',
    'bench/README.md',
  ];
  expect(paths).toEqual(expect.arrayContaining(expected));
});

describe('docs/configuration.md', () => {
  const page = readPage('docs/configuration.md');

  test('has tables that match the settings in the code', () => {
    expect(withSettingTables(page.text), 'Run "npm run codegen".').toBe(page.text);
  });

  test('lists every prefix of a setting name', () => {
    const [text = ''] = page.text.split('<!-- settings:');
    const named = parsePage(page.path, text).codeSpans.filter((span) => span.endsWith('_'));
    expect([...new Set(named)]).toEqual([...settingPrefixes, 'OTEL_']);
  });
});

test('.env.example matches the settings in the code', () => {
  expect(read('.env.example'), 'Run "npm run codegen".').toBe(environmentExample());
});

describe('docs/api-reference.md', () => {
  const page = readPage('docs/api-reference.md');

  test('lists the fixed limits of the code', () => {
    const inTable = rowsOf(sectionOf(page, 'Limits'), 'limit');
    expect(inTable.map(([name, allowed = '']) => [name, Number(allowed.replaceAll(',', ''))])).toEqual(
      Object.entries(fixedLimits).map(([name, allowed]) => [`\`${name}\``, allowed]),
    );
  });

  test('shows the cost report that the server returns for the example query', async () => {
    const text = sectionOf(page, 'What a query costs');
    const query = codeBlockOf(text, 'graphql');
    const { requests, ...sums } = JSON.parse(codeBlockOf(text, 'json'));
    await using waybill = await startWaybill({ SHOW_COST: 'yes' });
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
      },
      body: JSON.stringify({ query }),
    });
    const { upstream } = (await response.json()).extensions;
    const times = { startMs: expect.any(Number), durationMs: expect.any(Number) };
    expect(upstream).toEqual({
      ...sums,
      requests: requests.map((request: object) => ({ ...request, ...times })),
    });
    const fields = new Set([...Object.keys(upstream), ...Object.keys(upstream.requests[0])]);
    const inTable = rowsOf(text, 'field').flatMap(([names = '']) => codeSpansIn(names));
    expect(inTable.sort()).toEqual([...fields].sort());
  });

  test('shows what the query of each filter question costs in the sandbox', async () => {
    const rows = rowsOf(sectionOf(page, 'Filters and counts'), 'question');
    await using waybill = await startWaybill();
    const costs = [];
    for (const [question, query = ''] of rows) {
      const [field = ''] = codeSpansIn(query);
      const fields = field.endsWith('}') ? '' : '{ nodes { id } }';
      const { errors, calls } = await waybill.ask(`{ ${field} ${fields} }`);
      expect(errors).toBeUndefined();
      const routes = Map.groupBy(calls, (call) => call.split('?')[0]);
      const cost = Array.from(routes, ([route, { length }]) => `${length} × \`${route}\``).join(', ');
      costs.push([question, query, cost]);
    }
    expect(costs.length).toBeGreaterThan(5);
    expect(rows).toEqual(costs);
  });

  test('lists every UserError type in the table of mutation results', () => {
    const errors = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'UserError'),
    );
    const inTable = rowsOf(sectionOf(page, 'Writing'), 'member').flatMap(([member = '']) =>
      codeSpansIn(member),
    );
    expect(inTable.sort()).toEqual(errors.map(({ name }) => name).sort());
  });
});

test('docs/es/inicio.md uses only names that the desk shows', () => {
  const names = [...read('docs/es/inicio.md').matchAll(/\*\*(.+?)\*\*/g)].map(([, name = '']) => name);
  const texts = read('examples/order-desk/src/texts.ts');
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !texts.includes(`'${name}'`))).toEqual([]);
});

test('docs/errors.md lists every error code', () => {
  const inCode = matches(
    'src/server/**/*.ts',
    /'(?!ERR_|HPE_)([A-Z]+(?:_[A-Z]+)+|CONFLICT|FORBIDDEN|OVERLOADED|UNAUTHENTICATED)'/g,
  );
  // Yoga's own, as it writes them: `code: 'X'`, `code ||= 'X'` and `['code'] ||= 'X'`.
  const ofYoga = matches('node_modules/graphql-yoga/esm/**/*.js', /\bcode(?:'\])?(?::| \|\|=) '([A-Z_]+)'/g);
  expect(ofYoga).toEqual(expect.arrayContaining(['BAD_REQUEST', 'GRAPHQL_PARSE_FAILED']));
  // Yoga's own limit of bodies is off.
  const ofYogaHere = ofYoga.filter((code) => code !== 'REQUEST_ENTITY_TOO_LARGE');
  const inTable = rowsOf(readPage('docs/errors.md').text, 'code').flatMap(([codes = '']) =>
    codeSpansIn(codes),
  );
  expect(inTable.sort()).toEqual([...new Set([...inCode, ...ofYogaHere])].sort());
});

describe('faultText of docs/errors.md', async () => {
  const code = codeBlockOf(sectionOf(readPage('docs/errors.md'), 'Codes in results'), 'ts');
  const script = `${stripTypeScriptTypes(code)}\nexport { faultText };`;
  const { faultText } = await import(`data:text/javascript,${encodeURIComponent(script)}`);

  test.each([
    ['REQUIRED', null, 'Falta un valor.'],
    ['TOO_SHORT', 3, 'Escribe al menos 3 caracteres.'],
    ['TOO_SHORT', null, 'the message'],
    ['TOO_LONG', 128, 'Escribe como máximo 128 caracteres.'],
    ['TOO_LONG', null, 'the message'],
    ['REJECTED', null, 'the message'],
  ])('gives for %s with the limit %j: %s', (code, limit, text) => {
    expect(faultText({ code, limit, message: 'the message' })).toBe(text);
  });
});

test('the checklist in docs/operations/deploy.md lists eight settings', () => {
  const checklist = rowsOf(sectionOf(readPage('docs/operations/deploy.md'), 'Checklist'), 'setting');
  const inTable = checklist.flatMap(([name = '']) => codeSpansIn(name));
  expect(inTable).toHaveLength(8);
  const settings = [...environmentExample().matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);
  expect(settings).toEqual(expect.arrayContaining(inTable));
});

describe('docs/operations/deploy.md', () => {
  const page = readPage('docs/operations/deploy.md');
  const text = read('docs/operations/deploy.md').replaceAll(/\s+/g, ' ');

  test('has the connections of a server to PostgreSQL', () => {
    const [forKeys = ''] = matches('src/writes/store/postgres-connection.ts', /defaultConnections = (\d+)/g);
    const [forDocuments = ''] = matches(
      'src/printing/store/postgres-documents.ts',
      /maxConnections = (\d+)/g,
    );
    const inPage = /up to (\d+) connections: (\d+) for keys and (\d+) for documents/.exec(text)?.slice(1);
    expect(inPage?.map(Number)).toEqual([
      Number(forKeys) + Number(forDocuments),
      Number(forKeys),
      Number(forDocuments),
    ]);
  });

  test('has the sum of the limits of memory, for which a pod has room', () => {
    const rows = rowsOf(sectionOf(page, 'Memory and V8 flags'), 'data').map(([data = '', limit = '']) => {
      const [, mib = '0'] = /^(\d+) MiB/.exec(limit) ?? [];
      const times = limit.includes('twice as much') ? 2 : limit.includes('each of three') ? 3 : 1;
      return [data, Number(mib) * times] as const;
    });
    const ofMaker = rows.find(([data]) => data.startsWith('the process'))?.[1] ?? 0;
    const ofDocuments = rows.find(([data]) => data === 'documents of labels')?.[1] ?? 0;
    const sum = rows.reduce((total, [, mib]) => total + mib, -ofMaker);
    const sums = /add up to (\d+) MiB .* With `STATE_URL` the sum is (\d+) MiB/.exec(text)?.slice(1);
    expect(sums?.map(Number)).toEqual([sum, sum - ofDocuments]);
    const [atRest] = /to (\d+) MB of resident memory/.exec(text)?.slice(1) ?? [];
    const needed = Number(atRest) + sum - ofDocuments + ofMaker;
    const ofPod = matches('deploy/kubernetes.yaml', /memory: (\d+)Mi/g).map(Number);
    expect(ofPod).toHaveLength(2);
    for (const mib of ofPod) expect(mib).toBeGreaterThan(needed);
  });
});

describe('CONTRIBUTING.md', () => {
  const page = readPage('CONTRIBUTING.md');

  test('lists every page of docs/recipes', () => {
    const inTable = rowsOf(sectionOf(page, 'Recipes'), 'change').flatMap(
      ([, recipe = '']) => parsePage('', recipe).links,
    );
    expect(inTable.sort()).toEqual(paths.filter((path) => path.startsWith('docs/recipes/')));
  });

  test('lists each starter function with the file that exports it', () => {
    const starters = rowsOf(sectionOf(page, 'How a test starts'), 'starter').map(([starter = '']) =>
      codeSpansIn(starter),
    );
    const missing = starters.filter(
      ([name = '', file = '']) => !new RegExp(`^export .*\\bfunction ${name}\\b`, 'm').test(read(file)),
    );
    expect(starters.length).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });
});

describe('docs/operations/observe.md', () => {
  const page = readPage('docs/operations/observe.md');

  test('documents the fields of a log line that the server wrote', async () => {
    const text = sectionOf(page, 'Logs');
    const example = JSON.parse(codeBlockOf(text, 'json'));
    const { log, lines } = recordedLog();
    await using waybill = await startWaybill({}, { log });
    waybill.sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 503 });
    await waybill.ask(`query ${example.operation} { organization { id } }`);
    expect(lines().map((line) => ['time', ...Object.keys(line)].sort())).toEqual([
      Object.keys(example).sort(),
    ]);
    const inTable = rowsOf(text, 'field').flatMap(([names = '']) => codeSpansIn(names));
    const { level, time, msg, ...fields } = example;
    expect(inTable.sort()).toEqual([...Object.keys(fields), 'aborted'].sort());
  });

  test('lists all metrics', async () => {
    const metrics = createMetrics();
    metrics.live.showStreams(() => 0);
    metrics.showCallsWaiting(() => 0);
    metrics.showOpenCircuits(() => []);
    metrics.showProblems({ parameters: () => [], keyStore: () => [] });
    const { body } = await metrics.page();
    const counted = [...body.matchAll(/^# HELP (waybill_\S+) (.*)$/gm)].map(([, name, help]) => [
      `\`${name}\``,
      help,
    ]);
    expect(rowsOf(sectionOf(page, 'Metrics'), 'metric')).toEqual(counted);
  });
});

describe('docs/rest-mapping.md', () => {
  const page = readPage('docs/rest-mapping.md');

  test('lists exactly the endpoints of the REST client', () => {
    const called = endpoints.map(({ line }) => {
      const [method = '', path = ''] = line.split(/[ ?]/);
      return `${method} ${callRoute({ method: 'GET', path })}`;
    });
    const inTable = rowsOf(page.text, 'endpoint').flatMap(([first = '']) =>
      codeSpansIn(first).map((endpoint) => endpoint.replace(/\{\w+\}/g, '{id}')),
    );
    expect(inTable.sort()).toEqual([...new Set(called)].sort());
  });

  test('names only fields that exist in the schema', () => {
    const named = page.codeSpans.filter((span) => /^[A-Z][A-Za-z]+\.[a-z]\w+$/.test(span));
    const missing = named.filter((span) => {
      const [typeName = '', fieldName = ''] = span.split('.');
      const type = schema.getType(typeName);
      return !((isObjectType(type) || isInputObjectType(type)) && fieldName in type.getFields());
    });
    // REST's own names are in the first column.
    const restNames = rowsOf(page.text, 'REST').flatMap(([first = '']) => codeSpansIn(first));
    expect(missing.filter((span) => !restNames.includes(span))).toEqual([]);
  });

  test('lists each field at the endpoints that its schema description names', () => {
    const fields = Object.values(schema.getTypeMap())
      // The fields of Subscription are those of Query.
      .filter((type) => isObjectType(type))
      .filter((type) => type !== schema.getSubscriptionType())
      .flatMap((type) =>
        Object.values(type.getFields()).map(({ name, description }) => ({
          field: `${type.name}.${name}`,
          calls: codeSpansIn(description ?? '').filter((span) => /^[A-Z]+ \/v1\//.test(span)),
        })),
      )
      // A sentence below the table says what these two cost.
      .filter(({ field }) => field !== 'Query.node' && field !== 'Query.nodes');
    const rows = rowsOf(page.text, 'endpoint').map(([endpoint = '', inGraph = '']) => ({
      endpoint: codeSpansIn(endpoint)[0] ?? '',
      fields: codeSpansIn(inGraph),
    }));
    const routeIn = (call: string) => call.replace(/\{\w+\}/g, '{id}');
    const missing = fields.flatMap(({ field, calls }) =>
      rows
        .filter(
          ({ endpoint, fields }) => calls.map(routeIn).includes(routeIn(endpoint)) && !fields.includes(field),
        )
        // What a mutation reads is in the table of these reads.
        .filter(({ endpoint }) => !(field.startsWith('Mutation.') && endpoint.startsWith('GET ')))
        .map(({ endpoint }) => `add \`${field}\` to the row \`${endpoint}\` of docs/rest-mapping.md`),
    );
    expect(fields.filter(({ calls }) => calls.length > 0).length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });
});

describe('README.md', () => {
  test('has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  test('shows a query with an excerpt of the real response', async () => {
    const { text } = readPage('README.md');
    const { data } = JSON.parse(codeBlockOf(text, 'json'));
    await using waybill = await startWaybill({ PUBLIC_URL: 'http://127.0.0.1:4000' });
    const answer = await waybill.ask<{ orders: { nodes: object[] } }, object>(codeBlockOf(text, 'graphql'));
    expect(answer.errors).toBeUndefined();
    expect(answer.data.orders.nodes).toEqual(expect.arrayContaining(data.orders.nodes));
  });
});

/** A file that runs a command: it has this text. */
interface Runner {
  file: string;
  has: string;
}

const gate: Runner = { file: '.ci/run', has: 'npm cit' };
const npmStartTest: Runner = { file: 'test/process/npm-start.test.ts', has: "'exec npm start'" };
const workflow = (has: string): Runner => ({ file: '.github/workflows/ci.yml', has });
/** There is no cluster to run this command in. The test compares it with the manifest. */
const kubernetesTest = (has: string): Runner => ({ file: 'test/image/deployment.test.ts', has });
const benchTest = (has: string): Runner => ({ file: 'test/bench.test.ts', has });

/**
 * Each command of the pages, with the files that run it. A function runs the command in this test. A program that takes
 * minutes is run with fewer rounds.
 */
const clients = (has: string): Runner[] => [{ file: 'client/test/package.json', has }];
const clientsRun = (has: string): Runner[] => [{ file: 'client/test/run.ts', has }];
/** The requests of the Spanish quickstart. Each needs those before it. */
const quickstart = readPage('docs/es/inicio.md')
  .codeBlocks.map(({ text }) => text.trim())
  .filter((text) => text.startsWith('curl '));
const commands: Record<string, Runner[] | ((command: string) => Promise<void>)> = {
  'npm cit': [gate],
  'npm ci': [gate],
  'WAYBILL_TOKEN=sandbox-cafe-andino npm run doctor -- --url http://127.0.0.1:4001': examinesSandbox,
  "STATE_URL='postgres://waybill:password@db.example.com/shop?sslmode=verify-full' npm run doctor":
    examinesStore,
  'npm ci && npm start': [gate, npmStartTest],
  'UPSTREAM_URL=https://api.example.com npm start': starts,
  'NODE_ENV=production UPSTREAM_URL=https://api.example.com STATE_FILE=waybill.sqlite npm start': starts,
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 npm start': starts,
  'npm ci --omit=dev --omit=optional': installs,
  [`curl -s http://127.0.0.1:4000/graphql \\
  -H 'authorization: Bearer sandbox-cafe-andino' \\
  -H 'content-type: application/json' \\
  -d '{"query": "query Order($id: ID!) { order(id: $id) { id status } }", "variables": {"id": "ca2481"}}'`]:
    asks,
  [`curl -sN http://127.0.0.1:4000/graphql \\
  -H 'authorization: Bearer sandbox-cafe-andino' \\
  -H 'content-type: application/json' \\
  -H 'accept: text/event-stream' \\
  -d '{"query": "subscription { shipment(id: \\"ca2043\\") { status label { pdfUrl } } }"}'`]: [
    { file: 'test/api/live/clients.test.ts', has: "spawn('curl'" },
  ],
  "curl -s -X POST http://127.0.0.1:4001/sandbox/tokens/end -H 'authorization: Bearer sandbox-cafe-andino'":
    asksSandbox,
  "curl -s -X POST http://127.0.0.1:4001/sandbox/tokens/issue -H 'authorization: Bearer sandbox-cafe-andino'":
    asksSandbox,
  'cp .env.example .env && set -a && . ./.env && npm start': starts,
  'docker compose up --build --detach --wait': [workflow('docker compose up --build --detach --wait')],
  'docker compose --profile tls up --build --detach --wait': [
    workflow('docker compose --profile tls up --build --detach --wait'),
  ],
  'docker compose --profile servers up --build --detach --wait caddy-of-two': [
    workflow('docker compose --profile servers up --build --detach --wait caddy-of-two'),
  ],
  'docker compose --profile servers up --build --detach --wait --no-deps waybill-1': [
    workflow('docker compose --profile servers up --build --detach --wait --no-deps waybill-1'),
  ],
  'docker compose --profile servers up --build --detach --wait --no-deps waybill-2': [
    workflow('docker compose --profile servers up --build --detach --wait --no-deps waybill-2'),
  ],
  'CORS_ORIGINS=http://localhost:5173 npm start': starts,
  'npm install graphql': clients('"graphql"'),
  'npm install --save-dev typescript @graphql-codegen/cli @graphql-codegen/client-preset': clients(
    '"@graphql-codegen/client-preset"',
  ),
  'npx graphql-codegen --config codegen.ts': clientsRun("bin('graphql-codegen'), '--config', 'codegen.ts'"),
  'npm install @apollo/client rxjs react react-dom': clients('"@apollo/client"'),
  'npm install urql @urql/exchange-graphcache @urql/exchange-persisted graphql-sse react react-dom': clients(
    '"@urql/exchange-persisted"',
  ),
  'npm install react react-dom react-relay relay-runtime graphql-sse': clients('"react-relay"'),
  'npm install --save-dev typescript graphql relay-compiler babel-plugin-relay @types/react-relay @types/relay-runtime':
    clients('"relay-compiler"'),
  "echo '{}' > operations.json": clientsRun('operations.json'),
  'npx relay-compiler relay.config.json': clientsRun("bin('relay-compiler'), 'relay.config.json'"),
  'docker build --tag waybill .': [workflow('docker build --tag waybill .')],
  [`docker run --detach --name waybill --init --read-only --stop-timeout 40 --volume keys:/data \\
  --env-file rest.env --env-file waybill.env --publish 127.0.0.1:4000:4000 waybill`]: [
    workflow(
      'docker run --detach --name waybill --init --read-only --stop-timeout 40 --volume keys:/data --env-file rest.env --env-file waybill.env --publish 127.0.0.1:4000:4000 waybill',
    ),
  ],
  'docker run --rm --init --publish 127.0.0.1:4000:4000 --env UPSTREAM_URL=sandbox --env STATE_FILE=memory waybill':
    [
      workflow(
        'docker run --rm --init --publish 127.0.0.1:4000:4000 --env UPSTREAM_URL=sandbox --env STATE_FILE=memory waybill',
      ),
    ],
  'docker build --tag registry.example.com/waybill:0.2.0 .': [workflow('docker build --tag ')],
  'docker push registry.example.com/waybill:0.2.0': [kubernetesTest('`docker push ')],
  'kubectl create configmap waybill --from-env-file=rest.env --from-env-file=waybill.env': [
    kubernetesTest('`kubectl create configmap '),
  ],
  'kubectl create secret generic waybill --from-env-file=state.env': [
    kubernetesTest('`kubectl create secret generic '),
  ],
  'kubectl apply --filename deploy/kubernetes.yaml': [kubernetesTest('kubectl apply --filename deploy/')],
  'kubectl rollout status deployment/waybill': [kubernetesTest('`deployment/')],
  'curl -s http://127.0.0.1:4000/health/ready': showsReady,
  [`curl -s http://127.0.0.1:4000/graphql \\
  -H "authorization: Bearer $WAYBILL_TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"query": "{ orders(first: 3) { nodes { id status } } }"}'`]: asks,
  'npm run doctor -- --url https://api.example.com --write rest.env': writesSettings,
  'npm run bench -- --short': [benchTest("'bench/bench.ts', '--short'")],
  'git worktree add ../before HEAD~1': inScratchRepository,
  'npm run bench -- --against ../before --workloads order,shipments': [benchTest("'--against', ")],
  'npm run bench:calls': [benchTest("'bench/round-trips.ts'")],
  'npm run bench:writes': [benchTest("'bench/writes.ts'")],
  'npm run bench:fairness': [benchTest("'bench/fairness.ts'")],
  'npm run bench:soak': [benchTest("'bench/soak.ts'")],
  'npm run bench:live': [benchTest("'bench/live.ts'")],
  'npm run demo': [{ file: 'client/test/desk.ts', has: "'exec npm run demo'" }],
  ...Object.fromEntries(quickstart.map((command) => [command, followsQuickstart])),
};

/** Runs a command that starts a server, until the server prints its address. */
async function starts(command: string): Promise<void> {
  await inFolder(async (folder) => {
    // A folder of links, so that the command leaves no file in this checkout.
    for (const entry of readdirSync(root).filter((name) => name !== '.env'))
      symlinkSync(join(root, entry), join(folder, entry));
    const server = startCommand(command, folder, { PORT: '0', LOG_LEVEL: 'silent' });
    await server.prints(" -d '");
    await server.stop();
  });
}

/** Runs a command that installs Waybill in a new folder, and starts the server there. */
async function installs(command: string): Promise<void> {
  await inFolder(async (folder) => {
    for (const entry of ['package.json', 'package-lock.json', 'src']) {
      cpSync(join(root, entry), join(folder, entry), { recursive: true });
    }
    // The packages are in npm's cache since the install of this checkout.
    const ofNpm = Object.entries(process.env).filter(([name]) =>
      /^npm_config_(?:cache|registry|userconfig)$/.test(name),
    );
    const npm = startCommand(command, folder, {
      ...Object.fromEntries(ofNpm),
      npm_config_prefer_offline: 'true',
    });
    expect(await npm.exit).toMatchObject({ code: 0 });
    const server = startCommand('npm start', folder, { PORT: '0', LOG_LEVEL: 'silent' });
    await server.prints(" -d '");
    await server.stop();
  });
}

/** Runs a command that examines a service and writes its settings. The service of this test is the sandbox. */
async function writesSettings(command: string): Promise<void> {
  const sandbox = await startSandbox();
  await inFolder(async (folder) => {
    for (const entry of ['package.json', 'node_modules', 'src']) {
      symlinkSync(join(root, entry), join(folder, entry));
    }
    const line = command.replace('https://api.example.com', sandbox.url);
    const doctor = startCommand(line, folder, { WAYBILL_TOKEN: sandbox.tokens.first });
    expect(await doctor.exit).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'rest.env'), 'utf8')).toContain(`UPSTREAM_URL=${sandbox.url}\n`);
  });
  await sandbox.close();
}

/** Runs a command that sends a query to `npm start`. */
async function asks(command: string): Promise<void> {
  const response = await jsonOf(command);
  if (response === undefined) return;
  expect(response).toHaveProperty('data');
  expect(response).not.toHaveProperty('errors');
}

/** Runs the quickstart up to a command, with a new sandbox. */
async function followsQuickstart(command: string): Promise<void> {
  const server = startCommand('npm start', root, { PORT: '0', LOG_LEVEL: 'silent', STATE_FILE: 'memory' });
  const banner = await server.prints(" -d '");
  const [origin = ''] = /http:\/\/[^/]+/.exec(banner) ?? [];
  await inFolder(async (folder) => {
    for (const each of quickstart.slice(0, quickstart.indexOf(command) + 1)) {
      const { code, output } = await startCommand(each.replace('http://127.0.0.1:4000', origin), folder).exit;
      // The shell has no such program.
      if (code === 127) return;
      if (each.endsWith('-o rotulo.pdf')) {
        expect(readFileSync(join(folder, 'rotulo.pdf'), 'latin1')).toMatch(/^%PDF-/);
        continue;
      }
      const { data, errors } = JSON.parse(output);
      expect(errors).toBeUndefined();
      const { shipOrder, createLabelDocument: printed, orders } = data;
      if (shipOrder) expect(shipOrder.shipment).toMatchObject({ id: 'shipments/ca2048' });
      else if (printed) expect(printed.document.entries[0]).toMatchObject({ outcome: 'INCLUDED', page: 1 });
      else expect(orders.nodes.length).toBeGreaterThan(2);
    }
  });
  await server.stop();
}

/** Runs a command that asks `npm start` whether it is ready. */
async function showsReady(command: string): Promise<void> {
  const response = await jsonOf(command);
  if (response !== undefined) expect(response).toEqual({ status: 'ready' });
}

/** Runs a command that sends a request to `npm start`. The server of this test has another port. */
async function jsonOf(command: string): Promise<unknown> {
  const server = startCommand('npm start', root, { PORT: '0', LOG_LEVEL: 'silent' });
  const banner = await server.prints(" -d '");
  const [origin = ''] = /http:\/\/[^/]+/.exec(banner) ?? [];
  const { code, output } = await startCommand(command.replace('http://127.0.0.1:4000', origin), root, {
    WAYBILL_TOKEN: 'sandbox-cafe-andino',
  }).exit;
  await server.stop();
  // The shell has no such program.
  return code === 127 ? undefined : JSON.parse(output);
}

/** Runs a command that sends a request to `npm run sandbox`. The sandbox of this test has another port. */
async function asksSandbox(command: string): Promise<void> {
  const sandbox = await startSandbox();
  const { code, output } = await startCommand(command.replace('http://127.0.0.1:4001', sandbox.url), root)
    .exit;
  await sandbox.close();
  // The shell has no such program.
  if (code === 127) return;
  expect(JSON.parse(output)).toEqual({ token: expect.any(String), ended: command.includes('/end ') });
}

/** Runs a command that examines `npm run sandbox`. The sandbox of this test has another port. */
async function examinesSandbox(command: string): Promise<void> {
  const sandbox = await startSandbox();
  const line = command.replace('http://127.0.0.1:4001', sandbox.url);
  const { code, output } = await startCommand(line, root).exit;
  await sandbox.close();
  expect([code, output]).toEqual([0, expect.stringContaining('Waybill can use this service.')]);
}

/** Runs a command that examines a PostgreSQL database. The server of this test has another address. */
async function examinesStore(command: string): Promise<void> {
  const url = isPostgresMissing ? 'postgres://127.0.0.1:9/shop' : (await sharedPostgres()).url();
  const { code, output } = await startCommand(command.replace(/'.*'/, `'${url}'`), root).exit;
  const expected = isPostgresMissing ? '✗ store: connection' : 'Waybill can use this store.';
  expect([code, output]).toEqual([isPostgresMissing ? 1 : 0, expect.stringContaining(expected)]);
}

/** Runs a command in a repository with two commits. */
async function inScratchRepository(command: string): Promise<void> {
  await inFolder(async (folder) => {
    const repository = join(folder, 'waybill');
    mkdirSync(repository);
    const commit = 'git -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty -m a';
    const line = `git init --quiet && ${commit} && ${commit} && ${command}`;
    expect(await startCommand(line, repository).exit).toMatchObject({ code: 0 });
  });
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-docs-'));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('commands', () => {
  const inPages = pages.flatMap(({ path, codeBlocks }) =>
    codeBlocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.split(/(?<!\\)\n/))
      .map((line) => ({ path, command: line.trim() }))
      .filter(({ command }) => command !== '' && !command.startsWith('#')),
  );

  test('every documented command is tested', () => {
    const unknown = inPages.filter(({ command }) => !Object.hasOwn(commands, command));
    const texts = unknown.map(
      ({ path, command }) =>
        `${path}: nothing runs "${command}". Say in the table of this test how it is run.`,
    );
    expect(texts).toEqual([]);
  });

  test('every tested command is documented', () => {
    const unused = Object.keys(commands).filter(
      (command) => !inPages.some((line) => line.command === command),
    );
    expect(unused, 'Remove it from the table of this test.').toEqual([]);
  });

  test('code blocks with commands have the language "sh"', () => {
    const others = pages.flatMap(({ path, codeBlocks }) =>
      codeBlocks
        .filter(({ language }) => ['', 'bash', 'shell', 'console', 'zsh'].includes(language))
        .map(({ language, text }) => `${path} has a block of "${language}": ${text}`),
    );
    expect(others).toEqual([]);
  });

  const runners = Object.entries(commands).flatMap(([command, by]) =>
    Array.isArray(by) ? by.map(({ file, has }) => [command, file, has] as const) : [],
  );
  test.each(runners)('%s is tested by %s', (_command, file, has) => {
    expect(read(file)).toContain(has);
  });

  const here = Object.entries(commands).flatMap(([command, run]) =>
    Array.isArray(run) ? [] : [[command.split('\n')[0], command, run] as const],
  );
  test.each(here)('the command works: %s', async (_firstLine, command, run) => run(command), 120_000);

  test('every npm script named in the documentation exists', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const missing = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
        .filter(([, name = '']) => !(name in scripts))
        .map(([command]) => `${path}: ${command}`),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
  });
});

describe('docs/design', () => {
  const design = pages.filter(({ path }) => path.startsWith('docs/design/'));
  const rules = design.filter(({ path }) => path !== 'docs/design/README.md');

  test('each page has the rule, its reasons, its price and its files', () => {
    const headings = rules.map(({ path, text }) => [path, ...(text.match(/^## .+$/gm) ?? [])]);
    const expected = ['## The rule', '## Why', '## What is given up', '## Where it lives'];
    expect(headings).toEqual(rules.map(({ path }) => [path, ...expected]));
  });

  test('no page describes a change', () => {
    const changes = rules.flatMap(({ path, paragraphs }) =>
      paragraphs
        .flatMap(sentencesOf)
        .filter((sentence) => /\b(?:no longer|superseded|previously|formerly|at first)\b/i.test(sentence))
        .map((sentence) => `${path}: ${sentence}`),
    );
    expect(changes, 'Say the rule of today. Git has the history.').toEqual([]);
  });

  test('the pages and docs/architecture.md have fewer than 8,800 words', () => {
    const texts = [...design, readPage('docs/architecture.md')].map(
      ({ text }) => text.trim().split(/\s+/).length,
    );
    expect(texts.reduce((sum, words) => sum + words, 0)).toBeLessThan(8_800);
  });
});

/** A page that a comment names, with its heading. */
const codeLinkPattern = /\bdocs\/[\w./-]*\.md(?:#[\w-]+)?/g;

describe('names and links', () => {
  /** Files that a recipe creates. */
  const created = [
    'src/graph/quotes/parcel-size.ts',
    'src/sandbox/resources/couriers.ts',
    'src/graph/orders/cancel-order.ts',
    'test/api/orders/cancel-order.test.ts',
  ];
  const files = globSync(['*', '.*', '{src,test,bench,client,docs,examples,.ci,.github}/**/*'], {
    cwd: root,
    exclude: (path) =>
      /(?:^|\/)(?:node_modules|\.git|client\/test\/build|examples\/[\w-]+\/dist)$/.test(path),
  });
  const isThere = (name: string) => files.includes(name) || files.some((file) => file.endsWith(`/${name}`));

  test('every file named in the documentation exists', () => {
    const missing = pages.flatMap(({ path, codeSpans, codeBlocks }) =>
      [...codeSpans, ...codeBlocks.flatMap(namesInDiagram)]
        .filter((span) =>
          /^(?:(?:src|test|bench|docs|\.ci|\.github)\/[\w./-]+|[\w-]+\.(?:ts|cjs|md))$/.test(span),
        )
        .filter((span) => !created.includes(span) && !isThere(span.replace(/\/$/, '')))
        .map((span) => `${path}: ${span}`),
    );
    expect(missing).toEqual([]);
  });

  /** The words of a drawing in text that may be names of files. */
  function namesInDiagram({ language, text }: CodeBlock): string[] {
    return language === 'text' ? text.split(/[^\w./-]+/) : [];
  }

  test('every link of a page resolves to a file and a heading', () => {
    const broken = pages.flatMap(({ path, links }) =>
      brokenLinks(path, links).map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('every page and heading named in the code exists', () => {
    const code = files.filter(
      (file) =>
        !file.endsWith('.md') && lstatSync(join(root, file)).isFile() && !file.startsWith('bench/results/'),
    );
    const named = code.map((file) => ({ file, links: read(file).match(codeLinkPattern) ?? [] }));
    expect(named.flatMap(({ links }) => links).length).toBeGreaterThan(20);
    // The code names a page by its path below the root, as README.md does.
    const broken = named.flatMap(({ file, links }) =>
      brokenLinks('README.md', links).map((link) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('finds a link to a page or a heading that does not exist', () => {
    const page = 'docs/design/how-lists-are-read.md';
    // In two parts, because the test above reads this file too.
    const gone = ['docs/design/gone' + '.md', `${page}#gone`, `${page.slice(0, -3)}#cursors`];
    expect(brokenLinks('README.md', [...gone, page, `${page}#cursors`])).toEqual(gone);
    expect(` * Reasons (${page}#cursors). See ${page}.`.match(codeLinkPattern)).toEqual([
      `${page}#cursors`,
      page,
    ]);
  });

  test('every documentation page is linked from another page', () => {
    const linked = pages.flatMap(({ path, links }) =>
      links.map((link) => targetOf(path, link)).filter((target) => target !== path),
    );
    const unlinked = paths.filter((path) => path !== 'README.md' && !linked.includes(path));
    expect(unlinked).toEqual([]);
  });

  /** The links that lead to no file, or to no heading of a page. @param from the page with the links */
  function brokenLinks(from: string, links: readonly string[]): string[] {
    return links.filter((link) => !/^(?:https?|mailto):/.test(link) && !leadsSomewhere(from, link));
  }

  /** The file of a link, by its path below the root. */
  function targetOf(from: string, link: string): string {
    const [file = ''] = link.split('#');
    return file === '' ? from : relative(root, resolve(root, dirname(from), decodeURI(file)));
  }

  function leadsSomewhere(from: string, link: string): boolean {
    const [, anchor] = link.split('#');
    const target = targetOf(from, link);
    if (target.startsWith('..') || !existsSync(join(root, target))) return false;
    return anchor === undefined || (target.endsWith('.md') && readPage(target).anchors.includes(anchor));
  }

  test('every GraphQL query in the documentation is valid', () => {
    const invalid = pages.flatMap(({ path, codeBlocks }) =>
      codeBlocks
        .filter(({ language }) => language === 'graphql')
        .flatMap(({ text }) => validate(schema, parse(text)).map(({ message }) => `${path}: ${message}`)),
    );
    expect(invalid).toEqual([]);
  });
});

describe('prose', () => {
  const maxWords = 25;
  const prosePages = pages.filter(({ path }) => !isDated(path));

  test.each(prosePages.map((page) => [page.path, page] as const))(
    `%s has no sentence of more than ${maxWords} words`,
    (_path, { paragraphs }) => {
      const tooLong = paragraphs
        .flatMap(sentencesOf)
        .filter((sentence) => wordsOf(sentence) > maxWords)
        .map((sentence) => `${wordsOf(sentence)} words: ${sentence}`);
      expect(tooLong).toEqual([]);
    },
  );

  test('the first paragraph of each page names the reader', () => {
    const nameless = prosePages
      .filter(
        ({ path, paragraphs }) =>
          !/^(?:(?:F|This page is f)or|Para) \w/.test(paragraphs[0] ?? '') && path !== 'README.md',
      )
      .map(
        ({ path, paragraphs }) =>
          `${path} begins with "${paragraphs[0]}" and not with "For …" or "This page is for …".`,
      );
    expect(nameless).toEqual([]);
  });
});

describe('the sentence parser', () => {
  const sentences = (text: string) => parsePage('a.md', text).paragraphs.flatMap(sentencesOf);

  test.each([
    ['One line\nand another. Two.', ['One line and another.', 'Two.']],
    ['- One\n  line\n- **Two.** Three (see [four](#a.b)).', ['One line', 'Two.', 'Three (see four).']],
    ['# Not this\n\n| nor | this |\n| --- | --- |\n\n```sh\nnor this\n```\n', []],
    ['`a. b` is code, e.g. this. undici is a name.', ['`a. b` is code, e.g. this.', 'undici is a name.']],
  ])('splits %j into sentences', (text, expected) => {
    expect(sentences(text)).toEqual(expected);
  });

  test.each([
    ['`GET /v1/orders` is one word', 4],
    ['A + B — and a well-known C', 6],
  ])('counts the words of %j as %i', (sentence, count) => {
    expect(wordsOf(sentence)).toBe(count);
  });
});

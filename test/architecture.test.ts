import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/**
 * The layers of each folder, from top to bottom. A layer is one folder or file, or several on one line that do not
 * import each other. A layer imports from the layers below it alone. Types count too: a reader follows them as well.
 */
const layers: Record<string, string[]> = {
  src: [
    'start.cjs main.ts doctor',
    'process',
    'sandbox',
    'server',
    'config telemetry graph',
    'printing',
    'writes',
    'loaders',
    'rest',
    'tenancy',
    'concurrency base',
  ],
  'src/process': [
    'serve.ts',
    'start-server.ts',
    'banner.ts open-document-store.ts listen.ts',
    'open-key-store.ts',
    'upstream.ts',
    'startup-errors.ts signals.ts',
  ],
  'src/doctor': [
    'main.ts',
    'command-line.ts report.ts',
    'examine-store.ts',
    'examine.ts',
    'checks',
    'examination.ts',
    'live-service.ts',
  ],
  'src/doctor/checks': [
    'address.ts answers.ts lists.ts parameters.ts records.ts update-time.ts',
    'name-search.ts',
  ],
  'src/config': [
    'print-configuration.ts',
    'configuration-page.ts',
    'config.ts',
    'operation.ts proxy.ts rest.ts server.ts unknown-settings.ts',
    'origins.ts state-url.ts',
    'setting.ts',
  ],
  'src/server': [
    'create-app.ts',
    'routes',
    'graphql',
    'live',
    'operations',
    'documents execution',
    'limits',
    'document-syntax http',
  ],
  'src/server/routes': [
    'graphiql',
    'documents.ts labels.ts health.ts metrics.ts not-found.ts',
    'label-queue.ts streamed-body.ts',
  ],
  'src/graph': [
    'print-schema.ts',
    'client-files.ts schema.ts',
    'subscription.ts',
    'messaging organization shipments',
    'quotes',
    'orders',
    'places',
    'relay mutation',
    'fields',
    'builder.ts',
    'context.ts',
  ],
  'src/printing': [
    'label-documents.ts',
    'holders.ts label-reader.ts pdf-maker.ts store',
    'errors.ts pdf',
    'layouts.ts',
  ],
  'src/printing/pdf': [
    'pdf-process.ts',
    'compose.ts process-watch.ts',
    'sheet.ts summary-page.ts',
    'page-drawing.ts',
    'read-label.ts',
    'bounded-streams.ts placement.ts',
  ],
  'src/loaders': [
    'loaders.ts',
    'tenant-state.ts',
    'list-batch reference scan',
    'paging',
    'record-loader.ts',
    'loading-observer.ts lazy-properties.ts',
  ],
  'src/rest': [
    'api.ts',
    'resource-client.ts health-probe.ts',
    'watch',
    'client',
    'protection',
    'api-types.ts',
    'repeated-names.ts',
    'conversation-name.ts offers.ts',
    'resource-name.ts',
    'wire-schema.ts errors.ts',
    'access-token-form.ts call.ts connection-pools.ts gateway-statuses.ts',
  ],
  'src/sandbox': [
    'main.ts',
    'sandbox.ts',
    'server.ts',
    'resources',
    'label',
    'http',
    'rules',
    'seed',
    'couriers',
    'places store',
    'faults interface',
  ],
  'src/sandbox/seed': ['seed.ts', 'messages', 'orders', 'merchants', 'customers', 'calendar.ts random.ts'],
};

/** Packages that only some folders may import, and why. */
const homes: { package: RegExp; folders: string[]; why: string }[] = [
  { package: /^undici(\/.*)?$/, folders: ['rest'], why: 'src/rest makes all calls to REST' },
  {
    package: /^(graphql(\/.*)?|graphql-yoga|@graphql-yoga\/.*|@pothos\/.*)$/,
    folders: ['server', 'telemetry', 'graph'],
    why: 'loaders, writes and the REST client know nothing of GraphQL',
  },
  {
    package: /^(graphql-yoga|@graphql-yoga\/.*)$/,
    folders: ['server'],
    why: 'the graph does not know which server runs it',
  },
  {
    package: /^(pino|prom-client|@opentelemetry\/.*)$/,
    folders: ['telemetry'],
    why: 'other folders take a log or an observer as an argument',
  },
  {
    package: /^valibot$/,
    folders: ['graph', 'rest'],
    why: 'the graph checks its inputs, and rest the JSON of REST',
  },
  { package: /^dataloader$/, folders: ['loaders'], why: 'src/loaders does all batching' },
  {
    package: /^node:sqlite$/,
    folders: ['sandbox', 'writes'],
    why: 'only the key store and the sandbox have a database',
  },
  { package: /^pg$/, folders: ['writes'], why: 'only the key store uses PostgreSQL' },
  {
    package: /^(fastify|@fastify\/.*|typebox|bwip-js)$/,
    folders: ['sandbox'],
    why: 'only the sandbox serves REST',
  },
  {
    package: /^@cantoo\/pdf-lib$/,
    folders: ['sandbox', 'printing'],
    why: 'the sandbox makes labels, and the server documents of them',
  },
];

interface Import {
  file: string;
  /** A path below the root, or a package. */
  target: string;
}

const files = globSync('src/**/*.ts', { cwd: root });
const imports = files.flatMap((file): Import[] =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /(?:\bfrom|\bimport\(\s*|\bnew URL\(|^import) ?'([^']+\.ts|[^'./][^']*)'/gm,
    ),
  ].map(([, specifier = '']) => ({
    file,
    target: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  })),
);

/** The first folder below src, or the file itself at the top. */
function folderOf(path: string): string {
  return path.split('/')[1] ?? path;
}

/** The folder or file of `folder` that has a path; undefined where the path is elsewhere. */
function entryOf(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined;
}

test.each(Object.entries(layers))('files in %s import only from lower layers', (folder, order) => {
  const layerOf = (path: string): number | undefined => {
    const entry = entryOf(folder, path);
    if (entry === undefined) return undefined;
    const layer = order.findIndex((names) => names.split(' ').includes(entry));
    expect(layer, `${folder}/${entry} has no layer: give it one in this test`).toBeGreaterThanOrEqual(0);
    return layer;
  };
  const backwards = imports.filter(({ file, target }) => {
    const [from, to] = [layerOf(file), layerOf(target)];
    if (from === undefined || to === undefined || entryOf(folder, file) === entryOf(folder, target))
      return false;
    return from >= to;
  });
  expect(
    backwards.map(
      ({ file, target }) =>
        `${file} imports ${target}. In ${folder} imports run ${order.join(' → ')}: move what both need into a ` +
        'lower layer, or pass it as an argument.',
    ),
  ).toEqual([]);
});

test('every file and folder listed as a layer exists', () => {
  const gone = Object.entries(layers).flatMap(([folder, order]) => {
    const entries = readdirSync(join(root, folder));
    const named = order.flatMap((names) => names.split(' '));
    return named.filter((name) => !entries.includes(name)).map((name) => `${folder}/${name}`);
  });
  expect(gone, 'the layers of this test name what is gone').toEqual([]);
});

test('files have no circular imports, including type imports', () => {
  const targetsOf = Map.groupBy(imports, ({ file }) => file);
  const finished = new Set<string>();
  const circles: string[] = [];
  function visit(file: string, path: readonly string[]): void {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(' → '));
    if (start >= 0 || finished.has(file)) return;
    for (const { target } of targetsOf.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  }
  for (const file of files) visit(file, []);
  expect(circles, 'Move what both files need into a third one.').toEqual([]);
});

test('src/graph/schema.ts imports every schema file, directly or through other files', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const reached = new Set(['src/graph/schema.ts']);
  // The loop reaches the files that it adds, too. An import of types alone does not run a file.
  for (const file of reached) {
    for (const [, specifier = ''] of read(file).matchAll(/^(?:import|export) (?!type )[^;']*'(\.[^']+)'/gm))
      reached.add(relative(root, resolve(root, dirname(file), specifier)));
  }
  const parts = files.filter((file) => file.startsWith('src/graph/') && /\bbuilder\s*\./.test(read(file)));
  expect(parts.length).toBeGreaterThan(20);
  const advice = parts
    .filter((file) => !reached.has(file))
    .map((file) => `add \`import './${relative('src/graph', file)}';\` to src/graph/schema.ts`);
  expect(advice).toEqual([]);
});

test('the sandbox shares no code with the server', () => {
  const shared = imports
    .filter(({ file, target }) => target.startsWith('src/') && folderOf(file) !== folderOf(target))
    .filter(
      ({ file, target }) =>
        folderOf(file) === 'sandbox' ||
        (folderOf(target) === 'sandbox' && file !== 'src/process/upstream.ts'),
    )
    .map(
      ({ file, target }) =>
        `${file} imports ${target}. A mistake in shared code would pass every test: write it a second time.`,
    );
  expect(shared).toEqual([]);
});

test('src/doctor imports only src/base, src/config, src/rest and src/writes/store', () => {
  const shared = imports
    .filter(({ file, target }) => folderOf(file) === 'doctor' && target.startsWith('src/'))
    .map(({ target }) => (target.startsWith('src/writes/store/') ? 'store' : folderOf(target)));
  expect([...new Set(shared)].sort()).toEqual(['base', 'config', 'doctor', 'rest', 'store']);
});

test('packages are imported only in the folders that may use them', () => {
  const strays = imports.flatMap(({ file, target }) =>
    homes
      .filter((home) => home.package.test(target) && !home.folders.includes(folderOf(file)))
      .map(
        ({ folders, why }) =>
          `${file} imports ${target}, which belongs in src/${folders.join(', src/')}: ${why}.`,
      ),
  );
  expect(strays).toEqual([]);
});

test('each program reads the environment only in its main.ts', () => {
  const readers = files
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    .filter((file) => file !== 'src/main.ts' && file !== 'src/doctor/main.ts');
  expect(readers, 'take the setting from the Config, which src/main.ts makes').toEqual([]);
});

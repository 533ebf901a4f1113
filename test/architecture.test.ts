import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** The way of a request: each layer may import from itself and from those after it. */
const way = ['server', 'graph', 'writes', 'loaders', 'rest'];

/** Packages that only some places may know, and why. */
const homes: { package: RegExp; places: string[]; why: string }[] = [
  { package: /^undici$/, places: ['rest'], why: 'HTTP to REST is the business of src/rest alone' },
  {
    package: /^(graphql|graphql-yoga|@pothos\/.*)$/,
    places: ['server', 'graph'],
    why: 'loaders and the REST client know nothing of GraphQL',
  },
  {
    package: /^graphql-yoga$/,
    places: ['server'],
    why: 'the graph does not know by which server it is served',
  },
  { package: /^pino$/, places: ['server'], why: 'only the log of the server writes lines' },
  {
    package: /^(prom-client|@opentelemetry\/.*)$/,
    places: ['server'],
    why: 'only the server counts and traces; others take an observer',
  },
  {
    package: /^valibot$/,
    places: ['graph', 'rest'],
    why: 'an input is held against its rules where it is declared, and the JSON of REST against one schema',
  },
  { package: /^dataloader$/, places: ['loaders'], why: 'batching is the business of src/loaders alone' },
  {
    package: /^(fastify|@fastify\/.*|typebox|node:sqlite|@cantoo\/pdf-lib|bwip-js)$/,
    places: ['sandbox'],
    why: 'only the sandbox serves REST',
  },
];

interface Import {
  file: string;
  /** The first folder below src, or the file itself at the top. */
  place: string;
  /** A path below src, or a package. */
  target: string;
}

const imports = globSync('src/**/*.ts', { cwd: root }).flatMap((file): Import[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport\(|^import) ?'([^']+)'/gm)].map(
    ([, specifier = '']) => ({
      file,
      place: placeOf(file),
      target: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
    }),
  ),
);

function placeOf(path: string): string {
  return path.split('/')[1] ?? path;
}

test('imports run along the way of a request, never back', () => {
  const backwards = imports
    .filter(({ place, target }) => way.includes(place) && target.startsWith('src/'))
    .filter(({ place, target }) => way.indexOf(placeOf(target)) < way.indexOf(place))
    .map(
      ({ file, target }) =>
        `${file} imports ${target}. The way is ${way.join(' → ')}: pass what it needs as an argument instead.`,
    );
  expect(backwards).toEqual([]);
});

test('the sandbox shares no code with what it is there to test', () => {
  const shared = imports
    .filter(({ place, target }) => target.startsWith('src/') && place !== placeOf(target))
    .filter(
      ({ place, target }) =>
        place === 'sandbox' || (placeOf(target) === 'sandbox' && place !== 'upstream.ts'),
    )
    .map(
      ({ file, target }) =>
        `${file} imports ${target}. A mistake on both sides would pass every test: write it anew.`,
    );
  expect(shared).toEqual([]);
});

test('packages stay where they belong', () => {
  const strays = imports.flatMap(({ file, place, target }) =>
    homes
      .filter((home) => home.package.test(target) && !home.places.includes(place))
      .map(
        ({ places, why }) =>
          `${file} imports ${target}, which belongs in src/${places.join(', src/')}: ${why}.`,
      ),
  );
  expect(strays).toEqual([]);
});

test('the environment is read in one place', () => {
  const readers = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    .filter((file) => file !== 'src/main.ts' && file !== 'src/process/cluster/worker.ts');
  expect(readers, 'take the setting from src/config/config.ts, which main.ts hands the environment').toEqual(
    [],
  );
});

test('several processes are the business of the start alone', () => {
  const strays = imports
    .filter(({ target }) => target === 'node:cluster' || placeOf(target) === 'workers')
    .filter(({ file, place }) => place !== 'workers' && file !== 'src/main.ts')
    .map(
      ({ file, target }) =>
        `${file} imports ${target}. The parts of a server don't know how many there are: take what they share as an argument.`,
    );
  expect(strays).toEqual([]);
});

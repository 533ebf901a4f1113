import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parsePage } from '../../test/fixtures/markdown.ts';
import { type Place, startPlace } from './place.ts';

// Proves docs/clients.md: compiles each of its blocks with the newest version of each client, and runs the clients before
// the server and its sandbox. Usage: npm run clients [-- name …]
//
// Names are apollo, urql, relay, fetch and desk. Without names, all but `desk` run: it drives the order desk in Chromium,
// and `desk/board` only one part of it.

interface Tries {
  tries: Record<string, (place: Place) => Promise<void>>;
}

const root = resolve(import.meta.dirname, '../..');
const here = import.meta.dirname;
const app = join(here, 'build');
const startedAtMs = performance.now();

/** The file `relay.config.json`, and then what the page adds for trusted documents. */
const relayConfigs: object[] = [];

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: app, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Installs the clients, unless the lock file is that of the last install. */
function install(): void {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const stamp = join(here, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', ['ci', ...options], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(stamp, lock);
}

/** Writes the app that a reader has after copying: the blocks of the page, and the files of the folder `client`. */
function writeApp(): void {
  rmSync(app, { recursive: true, force: true });
  mkdirSync(join(app, 'app'), { recursive: true });
  const page = parsePage('docs/clients.md', readFileSync(join(root, 'docs/clients.md'), 'utf8'));
  let count = 0;
  for (const { language, text } of page.codeBlocks) {
    if (language === 'sh') continue;
    count += 1;
    if (language === 'json') {
      relayConfigs.push(JSON.parse(text));
      continue;
    }
    const path = /^\/\/ (\S+)\n/.exec(text)?.[1];
    if (path === undefined) throw new Error(`This block of docs/clients.md names no file: ${text}`);
    mkdirSync(dirname(join(app, path)), { recursive: true });
    writeFileSync(join(app, path), text);
  }
  if (count < 15) throw new Error(`docs/clients.md has only ${count} blocks`);
  // An app has fragments too, and they have no hash.
  const fragment = 'export const orderFragment = graphql(`fragment OrderParts on Order { id status }`);\n';
  appendFileSync(join(app, 'app/documents.ts'), fragment);
  mkdirSync(join(app, 'app/waybill'));
  for (const entry of readdirSync(join(root, 'client'), { withFileTypes: true }))
    if (entry.isFile()) cpSync(join(root, 'client', entry.name), join(app, 'app/waybill', entry.name));
  cpSync(join(here, 'tries'), join(app, 'app/tries'), { recursive: true });
  cpSync(join(here, 'tsconfig.json'), join(app, 'tsconfig.json'));
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }\n');
  if (!existsSync(join(app, 'node_modules'))) symlinkSync('../node_modules', join(app, 'node_modules'));
}

function writeRelayConfig(configs: object[]): void {
  writeFileSync(join(app, 'relay.config.json'), JSON.stringify(Object.assign({}, ...configs)));
}

/** Compiles the blocks of the page, and runs these clients. Relay is run by texts and by ids. */
async function tryClients(names: string[]): Promise<void> {
  writeApp();
  const bin = (name: string) => join(here, 'node_modules/.bin', name);
  run(bin('graphql-codegen'), '--config', 'codegen.ts', '--silent');
  const { bundle } = await import('./bundle.ts');
  const files: Record<string, string> = {};
  const bundleClient = async (client: string) => {
    files[client] = await bundle(app, `app/tries/${client}.tsx`, `${client}.js`);
  };
  writeRelayConfig(relayConfigs.slice(0, 1));
  run(bin('relay-compiler'), 'relay.config.json');
  if (names.includes('relay')) await bundleClient('relay-text');
  writeFileSync(join(app, 'operations.json'), '{}\n');
  writeRelayConfig(relayConfigs);
  run(bin('relay-compiler'), 'relay.config.json');
  run(bin('tsc'), '--project', 'tsconfig.json');
  for (const client of names) await bundleClient(client);
  console.log(`compiled each block after ${Math.round((performance.now() - startedAtMs) / 1000)} s`);

  const lists = ['app/gql/persisted-documents.json', 'operations.json'].map((path) => join(app, path));
  for (const [client, file] of Object.entries(files)) {
    const place = await startPlace(lists);
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replaceAll('http://127.0.0.1:4000', place.origin)
        .replace('return "sandbox-cafe-andino-2"', 'return globalThis.nextToken()'),
    );
    const { tries }: Tries = await import(pathToFileURL(file).href);
    for (const [name, tryIt] of Object.entries(tries)) {
      await tryIt(place);
      console.log(`✓ ${client}: ${name}`);
    }
    await place.stop();
  }
}

install();
const clients = ['apollo', 'urql', 'relay', 'fetch'];
const named = process.argv.slice(2);
const unknown = named.filter((name) => !clients.includes(name) && !/^desk(\/|$)/.test(name));
if (unknown.length > 0)
  throw new Error(`Expected ${clients.join(', ')} or desk, but got ${unknown.join(', ')}.`);
const chosen = clients.filter((client) => named.length === 0 || named.includes(client));
if (chosen.length > 0) await tryClients(chosen);
const ofDesk = named.filter((name) => name.startsWith('desk'));
if (ofDesk.length > 0) {
  const { tryDesk } = await import('./desk.ts');
  await tryDesk(
    console.log,
    ofDesk.flatMap((name) => name.split('/')[1] ?? []),
  );
}
console.log(`The clients work. ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
// Streams of the clients that retry for ever would keep the process.
process.exit(0);

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readConfig } from '../../src/config/config.ts';
import { openKeyStore } from '../../src/process/open-key-store.ts';
import { startServer } from '../../src/process/start-server.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { addTrouble, isTrouble, type Trouble } from './trouble.ts';

/** The part of Vite that this file uses. The packages of the desk are installed after the types are checked. */
interface Vite {
  preview(options: object): Promise<{ close(): Promise<void> }>;
}

interface Middlewares {
  middlewares: {
    use(path: string, handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  };
}

/** A running desk with its server and its sandbox. */
export interface Desk {
  url: string;
  sandbox: Sandbox;
  close(): Promise<void>;
}

const here = import.meta.dirname;
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });

/** Installs the packages of the desk, unless the lock file is that of the last install, and builds the desk. */
export function buildDesk(say: (step: string) => void): void {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const stamp = join(here, 'node_modules/.installed');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    say('Installing the packages of the desk. Only the first start does this.');
    run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
    writeFileSync(stamp, lock);
  }
  say('Building the desk.');
  run('npm', 'run', '--silent', 'generate');
  run('npx', '--no-install', 'vite', 'build', '--logLevel', 'warn');
}

/**
 * Serves the desk, `/graphql`, `/labels` and `/documents` from one origin of this machine, before a new sandbox.
 * @param port of the desk
 * @param waybillPort of the server. 0 is any free port.
 * @throws ConfigError if a port is in use, in one sentence
 */
export async function startDesk(
  port: number,
  waybillPort = 0,
  env: Record<string, string> = {},
): Promise<Desk> {
  const url = `http://127.0.0.1:${port}`;
  const config = readConfig({ PORT: String(waybillPort), PUBLIC_URL: url, DRAIN_GRACE_MS: '0', ...env });
  const sandbox = await startSandbox();
  const server = await startServer(config, {
    upstream: { url: new URL(sandbox.url), bearer: sandbox.tokens.first, close: () => sandbox.close() },
    trustedDocuments: undefined,
    keyStore: await openKeyStore(config),
    log: silentLog,
  }).catch(async (error: unknown) => {
    await sandbox.close();
    throw error;
  });
  const vite: Vite = await import(pathToFileURL(createRequire(import.meta.url).resolve('vite')).href);
  const proxy = Object.fromEntries(
    ['/graphql', '/graphiql', '/labels', '/documents'].map((path) => [path, { target: server.url.origin }]),
  );
  const page = await vite
    .preview({
      root: here,
      logLevel: 'silent',
      preview: { host: '127.0.0.1', port, strictPort: true, proxy },
      plugins: [
        {
          name: 'sandbox',
          configurePreviewServer: ({ middlewares }: Middlewares) => {
            middlewares.use('/demo/trouble', troubleHandler(sandbox));
            // Where a shop asks its own backend for the next token of the merchant.
            middlewares.use('/demo/token', (_request, response) =>
              response.end(sandbox.issueToken(sandbox.tokens.first)),
            );
          },
        },
      ],
    })
    .catch(async (error: unknown) => {
      await server.end('interrupted');
      throw error;
    });
  return {
    url,
    sandbox,
    async close() {
      await page.close();
      await server.end('interrupted');
    },
  };
}

/** `GET` tells the present trouble of the sandbox, and `POST` with the trouble as the body starts it. */
function troubleHandler(sandbox: Sandbox) {
  let trouble: Trouble = 'none';
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'POST') {
      const body = Buffer.concat(await request.toArray()).toString();
      if (!isTrouble(body)) {
        response.writeHead(400).end(`Expected none, third, down or slow, but got "${body.slice(0, 20)}".`);
        return;
      }
      trouble = body;
      sandbox.faults.clear();
      addTrouble(trouble, sandbox.faults);
    }
    response.end(trouble);
  };
}

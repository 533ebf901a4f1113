import type { AddressInfo } from 'node:net';
import { createFaults, type Faults } from './faults/faults.ts';
import { type Quirks, usualQuirks } from './faults/quirks.ts';
import { createRequestLog, type RequestLog } from './http/request-log.ts';
import { createPastOrders } from './rules/past-orders.ts';
import { createSeed, type Seed } from './seed/seed.ts';
import { writeSeed } from './seeding.ts';
import { createServer } from './server.ts';
import { type Clock, createClock } from './store/clock.ts';
import { openDatabase } from './store/database.ts';
import { namesAs } from './store/identifiers.ts';
import { createStore } from './store/store.ts';

export type { Fault, FaultEffect, FaultMatch, Faults } from './faults/faults.ts';
export type { Quirks } from './faults/quirks.ts';
export type { BearerKind, RequestEntry, RequestLog } from './http/request-log.ts';
export type { Clock } from './store/clock.ts';

export interface SandboxOptions {
  /** 127.0.0.1 by default. */
  host?: string;
  /** 0, the default, takes any free port. */
  port?: number;
  /** Keeps the data in this file; what is in it already is kept, and not seeded again. In memory by default. */
  file?: string;
  /** Where the clock stands until it is advanced. By default it runs, with the real time. */
  now?: Date;
  /** The data to start with; by default two merchants' lives. */
  seed?: (now: Date) => Seed;
  /** What it does otherwise, for every request. A fault of the kind `quirks` says so for some. */
  quirks?: Partial<Quirks>;
  /** Is told of the sandbox's own mistakes, which clients see as 500. By default a warning of the process. */
  report?: (error: unknown) => void;
}

/** A running REST service. */
export interface Sandbox {
  /** Such as `http://127.0.0.1:41234`, without a slash at the end. */
  url: string;
  /** The merchants' bearer tokens. */
  tokens: { first: string; second: string };
  clock: Clock;
  faults: Faults;
  requests: RequestLog;
  /** Ends at once, with every connection, hanging and kept alive ones too. */
  close(): Promise<void>;
}

/**
 * Starts a complete REST service with its own data ("Endpoints" and all else of the REST interface). Throws where the
 * port is taken, and where the file is no sandbox's.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, file, now, seed = createSeed, report = warn } = options;
  const quirks = { ...usualQuirks, ...options.quirks };
  const clock = createClock(now);
  const faults = createFaults();
  const requests = createRequestLog();
  const database = openDatabase(file);
  const store = createStore(database);
  let url = '';
  const service = { store, clock, pastOrders: createPastOrders(clock), url: () => url };
  const server = await createServer({ service, faults, quirks, log: requests, report });
  server.addHook('onClose', async () => database.close());
  try {
    if (database.isEmpty) {
      database.create(() => writeSeed(store, namesAs(quirks.identifiers, seed(clock.now())), clock.now()));
    }
    await server.listen({ host, port });
  } catch (error) {
    await server.close();
    throw error;
  }
  // The address of a server that listens on a port is never a pipe's name, nor null.
  const address = server.server.address() as AddressInfo;
  url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
  const [first = '', second = ''] = store.merchants.tokens();
  return { url, tokens: { first, second }, clock, faults, requests, close: () => server.close() };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

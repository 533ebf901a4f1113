import type { AddressInfo } from 'node:net';
import { createFaults, type Faults } from './faults/faults.ts';
import { defaultQuirks, type Quirks } from './faults/quirks.ts';
import { createRequestLog, type RequestLog } from './http/request-log.ts';
import { messageDueAt, shipmentDueAt } from './rules/due-transitions.ts';
import { createStaleOrders } from './rules/stale-orders.ts';
import { type ChannelSeed, createSeed, type MerchantSeed, type Seed } from './seed/seed.ts';
import { createServer } from './server.ts';
import { type Clock, createClock } from './store/clock.ts';
import type { List } from './store/collection.ts';
import { openDatabase } from './store/database.ts';
import { formatNames } from './store/identifiers.ts';
import type { Merchant, Merchants } from './store/merchants.ts';
import { createStore, type Store, sharedLocations } from './store/store.ts';

export type { Fault, FaultEffect, FaultMatch, Faults } from './faults/faults.ts';
export type { Quirks } from './faults/quirks.ts';
export type { BearerKind, RequestEntry, RequestLog } from './http/request-log.ts';
export type { Clock } from './store/clock.ts';

/** How to start a sandbox. */
export interface SandboxOptions {
  /** The address to listen on. 127.0.0.1 by default. */
  host?: string;
  /** The port to listen on. 0, the default, means any free port. */
  port?: number;
  /** The SQLite file of the data. A file that already has data is not seeded again. In memory by default. */
  file?: string;
  /** The data of another sandbox, from its `image`, in place of a seed. Reading it takes a fraction of seeding. */
  image?: Uint8Array;
  /** Stops the clock at this time until `advance`. By default the clock runs with real time. */
  now?: Date;
  /** Makes the initial data. By default two merchants with months of orders. */
  seed?: (now: Date) => Seed;
  /** Quirks for all requests. A fault of the kind `quirks` sets quirks for some requests. */
  quirks?: Partial<Quirks>;
  /** Receives the sandbox's own errors, which clients see as 500. By default they become process warnings. */
  report?: (error: unknown) => void;
}

/** A running REST service for tests and local development. */
export interface Sandbox {
  /** The base URL with the prefix, such as `http://127.0.0.1:41234`, without a slash at the end. */
  url: string;
  /**
   * Access tokens that are valid at the start: two of the first merchant, `first` and `firstRefreshed`, and one of the
   * second. They stay the same when a token ends or is issued.
   */
  tokens: { first: string; firstRefreshed: string; second: string };
  /** Ends a token: requests with it are 401 from now on. @throws RangeError for a token that was never issued. */
  endToken(token: string): void;
  /**
   * Issues another token of the same merchant. Earlier tokens stay valid.
   * @param token any token of the merchant, also one that has ended
   * @throws RangeError for a token that was never issued.
   */
  issueToken(token: string): string;
  clock: Clock;
  faults: Faults;
  requests: RequestLog;
  /** The present data, for sandboxes in memory that start with it. */
  image(): Uint8Array;
  /** Stops at once and closes all connections, pending and keep-alive ones too. */
  close(): Promise<void>;
}

/**
 * Starts a complete REST service with its own data. It implements the whole REST interface.
 * @throws if the port is in use or the file is no sandbox database
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, file, image, now, seed = createSeed, report = emitWarning } = options;
  const quirks = { ...defaultQuirks, ...options.quirks };
  const clock = createClock(now);
  const faults = createFaults();
  const requests = createRequestLog();
  const database = openDatabase(file, image);
  const store = createStore(database);
  let url = '';
  const service = { store, clock, staleOrders: createStaleOrders(clock), url: () => url };
  const server = await createServer({ service, faults, quirks, log: requests, report });
  server.addHook('onClose', async () => database.close());
  let tokens: Sandbox['tokens'];
  try {
    if (database.isEmpty) {
      database.create(() =>
        writeSeed(store, formatNames(quirks.identifiers, seed(clock.now())), clock.now()),
      );
    }
    tokens = tokensOfMerchants(store.merchants);
    await server.listen({ host, port });
  } catch (error) {
    await server.close();
    throw error;
  }
  // A server that listens on a port has an AddressInfo: no pipe name and no null.
  const address = server.server.address() as AddressInfo;
  url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}${quirks.prefix}`;
  return {
    url,
    tokens,
    endToken: (token) => void store.merchants.endToken(token),
    issueToken: (token) => store.merchants.issueToken(token).text,
    clock,
    faults,
    requests,
    image: database.image,
    close: () => server.close(),
  };
}

/** Issues the tokens that a start needs and a file lacks, because it is new, of version 1, or its tokens have ended. */
function tokensOfMerchants(merchants: Merchants): Sandbox['tokens'] {
  const [ofFirst = [], ofSecond = []] = merchants
    .all()
    .map((merchant) => merchants.validTokens(merchant, merchant.rank === 'first' ? 2 : 1));
  const [first = '', firstRefreshed = ''] = ofFirst;
  const [second = ''] = ofSecond;
  return { first, firstRefreshed, second };
}

function emitWarning(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** Seeded shipments and messages keep their status for at least this long, so that a person can look at them. */
const quietMs = 10 * 60_000;

/** Writes the seed into the store. Lists of the seed are newest first; records are written oldest first. */
function writeSeed(store: Store, seed: Seed, now: Date): void {
  for (const location of seed.locations.toReversed()) store.locations.insert(sharedLocations, location);
  for (const merchantSeed of seed.merchants) writeMerchant(store, merchantSeed, now);
}

function writeMerchant(store: Store, seed: MerchantSeed, now: Date): void {
  const merchant = store.merchants.add(seed.token, seed.organization);
  const list = (path: string): List => ({ merchant: merchant.id, path });
  for (const origin of seed.origins.toReversed()) store.origins.insert(list('origins'), origin);
  for (const order of seed.orders.toReversed()) store.orders.insert(list('orders'), order);
  for (const quote of seed.quotes.toReversed()) store.quotes.insert(list('quotes'), quote);
  for (const shipment of seed.shipments.toReversed()) {
    const due = shipmentDueAt(shipment, new Date(shipment.updateTime));
    store.shipments.insert(list('shipments'), shipment, dueAfterQuietPeriod(now, due));
  }
  for (const channel of seed.channels.toReversed()) writeChannel(store, merchant, channel, now);
}

function writeChannel(store: Store, merchant: Merchant, seed: ChannelSeed, now: Date): void {
  const { name } = seed.channel;
  const list = (path: string): List => ({ merchant: merchant.id, path });
  store.channels.insert(list('channels'), seed.channel);
  for (const template of seed.templates.toReversed()) {
    store.templates.insert(list(`${name}/templates`), template);
  }
  for (const { messages, ...conversation } of seed.conversations.toReversed()) {
    store.conversations.insert(list(`${name}/conversations`), conversation);
    for (const message of messages.toReversed()) {
      const due = messageDueAt(message, new Date(message.createTime));
      store.messages.insert(list(`${conversation.name}/messages`), message, dueAfterQuietPeriod(now, due));
    }
  }
}

function dueAfterQuietPeriod(now: Date, due: number | undefined): number | undefined {
  return due === undefined ? undefined : Math.max(due, now.getTime() + quietMs);
}

import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { readTrustedDocuments } from '../../src/server/documents/trusted-documents.ts';
import { startWaybill } from '../../test/harness.ts';

/** What a try of a client has beside the client. */
export interface Place {
  sandbox: Sandbox;
  /** The address that the app has. */
  origin: string;
  /** The responses of `/graphql` since the last look: their statuses, with the access token of the request. */
  seen(): string[];
  /** How often the app has asked its backend for a token. */
  refreshes(): number;
  /** Leads the requests of the app to a server that takes the listed documents only, or back. */
  trustOnly(isOn: boolean): void;
  /** Fails the next request of the app before it is sent, as without a network. */
  failNext(): void;
  stop(): Promise<void>;
}

/** Starts a server, and another one that takes only the documents of these lists, before one sandbox. */
export async function startPlace(lists: string[]): Promise<Place> {
  const cors = { CORS_ORIGINS: 'http://localhost:5173', LIVE_INTERVAL_MS: '50' };
  const open = await startWaybill(cors);
  const trusted = await startWaybill(cors, {
    sandbox: open.sandbox,
    trustedDocuments: new Map(
      (await Promise.all(lists.map(readTrustedDocuments))).flatMap((list) => [...list]),
    ),
  });
  const { origin } = open.url;
  const original = globalThis.fetch;
  let isTrusted = false;
  let failing = 0;
  let seen: string[] = [];
  globalThis.fetch = async (input, init) => {
    if (failing > 0) {
      failing -= 1;
      throw new TypeError('fetch failed');
    }
    const address = String(input).replace('http://waybill.test', origin);
    const response = await original(isTrusted ? address.replace(origin, trusted.url.origin) : address, init);
    seen.push(
      `${response.status} ${new Headers(init?.headers).get('authorization')?.replace('Bearer ', '')}`,
    );
    return response;
  };
  const { sandbox } = open;
  // The app of the page has a constant here.
  let refreshes = 0;
  const nextToken = async () => {
    refreshes += 1;
    return sandbox.issueToken(sandbox.tokens.first);
  };
  Object.assign(globalThis, { nextToken });
  return {
    sandbox,
    origin,
    seen: () => seen.splice(0),
    refreshes: () => refreshes,
    trustOnly(isOn) {
      isTrusted = isOn;
    },
    failNext() {
      failing += 1;
    },
    async stop() {
      globalThis.fetch = original;
      seen = [];
      await trusted[Symbol.asyncDispose]();
      await open[Symbol.asyncDispose]();
    },
  };
}

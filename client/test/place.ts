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
  /** Fails the next time that the app asks its backend for a token. */
  failRefresh(): void;
  /** Opens streams until the server refuses a further one of the token. @returns a function that closes these streams */
  takeAllStreams(token: string): Promise<() => void>;
  stop(): Promise<void>;
}

/** Starts a server, and another one that takes only the documents of these lists, before one sandbox. */
export async function startPlace(lists: string[]): Promise<Place> {
  // A token has a quarter of the connections for its streams: 8.
  const settings = { CORS_ORIGINS: 'http://localhost:5173', LIVE_INTERVAL_MS: '50', MAX_CONNECTIONS: '32' };
  const open = await startWaybill(settings);
  const trusted = await startWaybill(settings, {
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
  let failingRefreshes = 0;
  const nextToken = async () => {
    refreshes += 1;
    if (failingRefreshes > 0) {
      failingRefreshes -= 1;
      throw new TypeError('fetch failed');
    }
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
    failRefresh() {
      failingRefreshes += 1;
    },
    async takeAllStreams(token) {
      const control = new AbortController();
      const headers = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
      };
      const body = JSON.stringify({ query: 'subscription { organization { id } }' });
      for (let text = ''; !text.includes('OVERLOADED'); ) {
        const { signal } = control;
        const response = await original(`${origin}/graphql`, { method: 'POST', headers, body, signal });
        text = '';
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        while (!text.includes('event: next')) text += (await reader?.read())?.value ?? '';
      }
      return () => control.abort();
    },
    async stop() {
      globalThis.fetch = original;
      seen = [];
      await trusted[Symbol.asyncDispose]();
      await open[Symbol.asyncDispose]();
    },
  };
}

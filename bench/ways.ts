import { readConfig } from '../src/config.ts';
import { createRestApi } from '../src/rest/api.ts';
import { createRestClient, type RestClient } from '../src/rest/client.ts';
import { createApp } from '../src/server/app.ts';
import type { Rest } from './rest.ts';
import type { Screen } from './screen.ts';
import type { UpstreamGreeting } from './upstream.ts';

/** Looks at a screen once, and answers what it shows. */
export type View = () => Promise<unknown>;

/** A way to look at screens. The inner function is called before each run, outside of what is measured. */
export type Way = (screen: Screen) => () => Promise<View>;

/** Nothing known from earlier operations, and each record asked for by its own id. */
export const oneGetPerId = {
  UPSTREAM_LISTS_FOR_BATCHES: 'no',
  UPSTREAM_AHEAD_OF_ASK: 'no',
  REFERENCE_DATA_MS: '0',
};

export interface Waybill {
  /** A token that the server has not seen: its documents are parsed and compiled, but nothing of the merchant is known. */
  cold: Way;
  /** One server for all runs of a screen, with these settings. */
  steady(environment?: Record<string, string>): Way;
  close(): Promise<void>;
}

/** Servers before this upstream. They are asked by `fetch` in this process, and ask REST over HTTP. */
export function createWaybill({ url, tokens }: UpstreamGreeting): Waybill {
  // Connections to REST are kept open from one server to the next, as the hand-written client's are.
  const client = createRestClient({ baseUrl: new URL(url), ...readConfig({}).rest });
  return {
    cold: (screen) => async () => {
      const ask = server(client);
      await ask(screen, tokens.second).catch(() => {}); // The other merchant may not have what the screen names.
      return () => ask(screen, tokens.first);
    },
    steady: (environment) => (screen) => {
      const ask = server(client, environment);
      return async () => () => ask(screen, tokens.first);
    },
    close: () => client.close(),
  };
}

export function byHand(rest: Rest): Way {
  return (screen) => async () => () => screen.byRest(rest);
}

function server(client: RestClient, environment: Record<string, string> = {}) {
  const config = readConfig(environment);
  const app = createApp({
    ...config.app,
    api: createRestApi(client, config.parameterNames),
    publicUrl: () => new URL('http://waybill.bench'),
    report: (error) => {
      throw error;
    },
  });

  return async ({ name, query, variables }: Screen, bearer: string): Promise<unknown> => {
    const response = await app.fetch('http://waybill.bench/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    if (errors !== undefined)
      throw new Error(`Expected the ${name} whole, but got ${JSON.stringify(errors)}`);
    return data;
  };
}

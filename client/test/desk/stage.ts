import type { Route } from 'playwright-core';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Screen } from './screen.ts';

/** What a try has. */
export interface Stage {
  screen: Screen;
  sandbox: Sandbox;
  /** The address of the desk. */
  url: string;
}

export type Try = (stage: Stage) => Promise<void>;

/** How often REST has received a write. @param path the whole path, or a pattern for it */
export function writes({ sandbox }: Stage, path: string | RegExp): number {
  return sandbox.requests
    .entries()
    .filter(
      ({ method, path: at }) =>
        method === 'POST' && (at === path || (path instanceof RegExp && path.test(at))),
    ).length;
}

/**
 * Handles the requests of some operations of the desk in place of the server.
 * @param names such as `Board`
 * @returns a function that leads them to the server again
 */
export async function intercept(
  { screen: { page } }: Stage,
  names: readonly string[],
  handle: (route: Route) => Promise<void>,
): Promise<() => Promise<void>> {
  const operation = new RegExp(`(query|mutation|subscription) (${names.join('|')})\\b`);
  const handler = (route: Route) =>
    operation.test(route.request().postData() ?? '') ? handle(route) : route.fallback();
  await page.route('**/graphql', handler);
  return () => page.unroute('**/graphql', handler);
}

/** Asks the graph beside the desk. */
export async function ask<Data>({ url, sandbox }: Stage, query: string, variables = {}): Promise<Data> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.first}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

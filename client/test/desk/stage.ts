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

import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { readConfig } from '../src/config/config.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/sandbox/sandbox.ts';
import type { App } from '../src/server/app.ts';
import { type ConnectOptions, connectApp } from './fixtures/connect-app.ts';

/** The time at which the seed and the clock of each test start. */
export const startOfTime = new Date('2026-11-02T14:00:00Z');

export interface Answer<Data> {
  status: number;
  /** Typed without null at the root: a test that reads a null fails. */
  data: { [Field in keyof Data]: NonNullable<Data[Field]> };
  errors: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[] | undefined;
  /** The REST calls of the operation, in the order of arrival, such as `GET /v1/orders/ca2500`. */
  calls: string[];
}

export interface Waybill {
  app: App;
  sandbox: Sandbox;
  /** Runs a document with the access token of the first merchant, or with `bearer`. Null sends no token. */
  ask<Data, Variables>(
    document: TypedDocumentNode<Data, Variables> | string,
    variables?: Variables,
    bearer?: string | null,
  ): Promise<Answer<Data>>;
  /** Sends a request to a path of this server, such as `/labels/ca0001.pdf`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Changes these fields in the responses of REST at `path`, until the returned function is called. */
  changeAnswer(path: string, fields: object): () => void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WaybillOptions
  extends Omit<ConnectOptions, 'report'>,
    Pick<SandboxOptions, 'quirks' | 'seed'> {
  /** A sandbox that several servers share. The test that started it closes it. By default the server has its own. */
  sandbox?: Sandbox;
}

/** Starts a sandbox on a free port, and the application with these environment variables. */
export async function startWaybill(
  environment: Record<string, string> = {},
  { seed, quirks, sandbox: shared, ...options }: WaybillOptions = {},
): Promise<Waybill> {
  const sandbox =
    shared ?? (await startSandbox({ now: startOfTime, ...(seed && { seed }), ...(quirks && { quirks }) }));
  // Without cached data and retries, a test sees each call of its operation exactly once.
  const config = readConfig({ REFERENCE_DATA_MS: '0', UPSTREAM_RETRIES: '0', ...environment });
  const { app, close } = await connectApp(new URL(sandbox.url), config, {
    ...options,
    report: (error) => {
      throw error;
    },
  });

  return {
    app,
    sandbox,
    async ask(document, variables, bearer = sandbox.tokens.first) {
      sandbox.requests.clear();
      const response = await app.fetch('http://waybill.test/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: JSON.stringify({ query: typeof document === 'string' ? document : print(document), variables }),
      });
      const { data, errors } = await response.json();
      return { status: response.status, data, errors, calls: sandbox.requests.lines() };
    },
    fetch: async (path, init = {}) => app.fetch(`http://waybill.test${path}`, init),
    changeAnswer: (path, fields) =>
      sandbox.faults.add({
        kind: 'change',
        path,
        change: (answer) => ({ ...Object(answer), ...fields }),
      }),
    async [Symbol.asyncDispose]() {
      await close();
      if (shared === undefined) await sandbox.close();
    },
  };
}

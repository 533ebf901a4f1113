import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { readConfig } from '../src/config/config.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/sandbox/sandbox.ts';
import type { App } from '../src/server/app.ts';
import { type ConnectOptions, connectApp } from './fixtures/connect-app.ts';

/** The seed and the clock of every test start here. */
export const startOfTime = new Date('2026-11-02T14:00:00Z');

export interface Answer<Data> {
  status: number;
  /** Read as if every field at the root was answered: a test fails where it reads one that was not. */
  data: { [Field in keyof Data]: NonNullable<Data[Field]> };
  errors: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[] | undefined;
  /** The REST calls that the operation cost, in the order in which they arrived: `GET /v1/orders/ca2500`. */
  calls: string[];
}

export interface Waybill {
  app: App;
  sandbox: Sandbox;
  /** Runs a document on behalf of the first merchant; `bearer` speaks for another, and null for nobody. */
  ask<Data, Variables>(
    document: TypedDocumentNode<Data, Variables> | string,
    variables?: Variables,
    bearer?: string | null,
  ): Promise<Answer<Data>>;
  /** Calls below this server, such as `/labels/ca0001.pdf`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Changes these fields in what REST answers at `path`, until the returned function is called. */
  changeAnswer(path: string, fields: object): () => void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WaybillOptions
  extends Pick<
      ConnectOptions,
      | 'bodyBytesAtOnce'
      | 'execute'
      | 'keyStore'
      | 'log'
      | 'trustedDocuments'
      | 'tokenRejections'
      | 'service'
      | 'telemetry'
      | 'unreadBytesAtOnce'
    >,
    Pick<SandboxOptions, 'quirks' | 'seed'> {
  /** One that is shared, and closed by whoever started it; by default it has its own. */
  sandbox?: Sandbox;
  /** How long stale reference data is still answered, in milliseconds; as by default. */
  referenceGraceMs?: number;
}

/** A sandbox on a free port and the application before it, with settings as the environment would hold them. */
export async function startWaybill(
  environment: Record<string, string> = {},
  { seed, quirks, sandbox: shared, referenceGraceMs, ...options }: WaybillOptions = {},
): Promise<Waybill> {
  const sandbox =
    shared ?? (await startSandbox({ now: startOfTime, ...(seed && { seed }), ...(quirks && { quirks }) }));
  // Nothing is known from an earlier operation, and nothing is tried again, unless a test is about that, so that each test
  // sees the calls of its own, each once.
  const config = readConfig({ REFERENCE_DATA_MS: '0', UPSTREAM_RETRIES: '0', ...environment });
  const { app, close } = await connectApp(new URL(sandbox.url), config, {
    ...options,
    loading: { ...config.app.loading, ...(referenceGraceMs !== undefined && { referenceGraceMs }) },
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

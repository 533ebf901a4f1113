import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import type { Sandbox, SandboxOptions } from '../src/sandbox/sandbox.ts';
import { startSeededSandbox } from './fixtures/seeded-sandbox.ts';
import { type StartOptions, startServer } from './fixtures/start-server.ts';

export { startOfTime } from './fixtures/seeded-sandbox.ts';

export interface Answer<Data> {
  status: number;
  /** Typed without null at the root: a test that reads a null fails. */
  data: { [Field in keyof Data]: NonNullable<Data[Field]> };
  errors: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[] | undefined;
  /** The REST calls of the operation, in the order of arrival, such as `GET /v1/orders/ca2500`. */
  calls: string[];
}

export interface Waybill {
  /** The address of the server. */
  url: URL;
  sandbox: Sandbox;
  /** Runs a document with the access token of the first merchant, or with `bearer`. Null sends no token. */
  ask<Data, Variables>(
    document: TypedDocumentNode<Data, Variables> | string,
    variables?: Variables,
    bearer?: string | null,
  ): Promise<Answer<Data>>;
  /** The header with the access token of the first merchant. */
  authorization: string;
  /** Posts a body to `/graphql` with the access token of the first merchant, by default as JSON. */
  post(body: string | Buffer, headers?: Record<string, string>): Promise<{ status: number; body: unknown }>;
  /** Sends a request to a path of this server, such as `/labels/ca0001.pdf`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Changes these fields in the responses of REST at `path`, until the returned function is called. */
  changeAnswer(path: string, fields: object): () => void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WaybillOptions
  extends Omit<StartOptions, 'report'>,
    Pick<SandboxOptions, 'quirks' | 'seed'> {
  /** By default, an error that is masked for clients fails the test. */
  report?: StartOptions['report'];
  /** A sandbox that several servers share. The test that started it closes it. By default the server has its own. */
  sandbox?: Sandbox;
}

/** Starts a sandbox and the server on free ports, with these environment variables. */
export async function startWaybill(
  environment: Record<string, string> = {},
  { seed, quirks, sandbox: shared, ...options }: WaybillOptions = {},
): Promise<Waybill> {
  const sandbox = shared ?? (await startSeededSandbox({ ...(seed && { seed }), ...(quirks && { quirks }) }));
  const faults: unknown[] = [];
  // Without cached data, a test sees each call of its operation exactly once.
  const server = await startServer(
    new URL(sandbox.url),
    { REFERENCE_DATA_MS: '0', ...environment },
    { report: (error) => faults.push(error), ...options },
  );
  function expectNoFault(): void {
    if (faults.length > 0) throw faults[0];
  }

  const authorization = `Bearer ${sandbox.tokens.first}`;
  return {
    url: server.url,
    sandbox,
    authorization,
    async post(body, headers = { 'content-type': 'application/json' }) {
      const response = await server.fetch('/graphql', {
        method: 'POST',
        headers: { authorization, ...headers },
        body: typeof body === 'string' ? body : new Uint8Array(body),
      });
      return { status: response.status, body: await response.json() };
    },
    async ask(document, variables, bearer = sandbox.tokens.first) {
      sandbox.requests.clear();
      const response = await server.fetch('/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: JSON.stringify({ query: typeof document === 'string' ? document : print(document), variables }),
      });
      const { data, errors } = await response.json();
      expectNoFault();
      return { status: response.status, data, errors, calls: sandbox.requests.lines() };
    },
    fetch: server.fetch,
    changeAnswer: (path, fields) =>
      sandbox.faults.add({
        kind: 'change',
        path,
        change: (answer) => ({ ...Object(answer), ...fields }),
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      if (shared === undefined) await sandbox.close();
      expectNoFault();
    },
  };
}

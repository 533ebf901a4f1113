import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createRestApi, type RestApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { createRestClient, type RestClient, type RestClientOptions } from '../../src/rest/client.ts';
import type { ParameterNames } from '../../src/rest/records.ts';
import { createTenants } from '../../src/rest/tenant.ts';
import { createCallers } from '../fixtures/callers.ts';

export const bearer = 'secret-token';

export const parameterNames: ParameterNames = {
  pageSize: 'pageSize',
  pageToken: 'pageToken',
  status: 'status',
  search: 'search',
  query: 'query',
};

/** A request as it came over the wire. */
export interface SeenRequest {
  /** Method and target: `GET /v1/orders?pageSize=20`. */
  line: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

/** A REST service of the test's own making on a free port, and what it has seen. */
export interface Service {
  url: URL;
  requests: SeenRequest[];
  /** How many sockets were opened to it. */
  connections: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startService(answer: Answer): Promise<Service> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    service.requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    await answer(request, response, body);
  });
  server.on('connection', () => {
    service.connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const service: Service = {
    url: new URL(`http://127.0.0.1:${port}`),
    requests: [],
    connections: 0,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return service;
}

/** A client before such a service. */
export interface Bench {
  api: RestApi;
  client: RestClient;
  service: Service;
  /** A caller with its own signal unless one is given. */
  caller(signal?: AbortSignal, maxConcurrency?: number): Caller;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BenchOptions extends Partial<RestClientOptions> {
  names?: ParameterNames;
}

export async function startBench(answer: Answer, { names, ...options }: BenchOptions = {}): Promise<Bench> {
  const service = await startService(answer);
  const tenants = createTenants();
  const client = createRestClient({
    baseUrl: service.url,
    connections: 8,
    connectTimeoutMs: 1_000,
    callTimeoutMs: 2_000,
    streamTimeoutMs: 60_000,
    maxResponseBytes: 100_000,
    // So that each test sees each call once, unless it is about that.
    retries: 0,
    ...options,
  });
  return {
    api: createRestApi(client, names ?? parameterNames),
    client,
    service,
    caller: (signal = new AbortController().signal, maxConcurrency = 16) =>
      createCallers({ callsPerOperation: maxConcurrency, readsPerOperation: 1_000, tenants }).of(
        bearer,
        signal,
      ),
    async [Symbol.asyncDispose]() {
      // The service first: its hung answers would keep the client from closing.
      await service[Symbol.asyncDispose]();
      await client.close();
    },
  };
}

export function answerJson(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };
}

export function answerText(
  body: string,
  status = 200,
  contentType = 'text/html',
  headers: Record<string, string> = {},
): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': contentType, ...headers }).end(body);
  };
}

/** Answers each path with what the interface gives there. */
export const answerAsPromised: Answer = (request, response, body) => {
  const path = new URL(request.url ?? '', 'http://rest.test').pathname.replace('/v1/', '');
  if (path.endsWith('/label'))
    return response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
  const key = path.split('/').at(-1) ?? '';
  const isList =
    request.method === 'GET' &&
    /^(orders|shipments|origins|locations|channels|templates|messages)$/.test(key);
  const made = key === 'messages' ? 'channels/1/conversations/17/messages/m1' : `${key}/1`;
  const name = key === 'mine' ? 'organization/1' : request.method === 'POST' ? made : path;
  const json = isList ? { [key]: [] } : { name };
  return answerJson(json)(request, response, body);
};

/** The error that a promise ends with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => new Error(`expected a failure, but got ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new TypeError('it failed with something that is no error', { cause: outcome });
}

/** Resolves when `holds` does, looked at between events. */
export async function until(holds: () => boolean, timeoutMs = 2_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`still not so after ${timeoutMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import { checkTransferCoding, checkUrl } from './ambiguous-requests.ts';
import { ClientConnection } from './client-connection.ts';
import { EarlyClosingResponse } from './early-response.ts';
import { type OnHttpError, writeHttpError } from './http-error.ts';
import { parserError, writeErrorToSocket } from './socket-errors.ts';
import { MeteredRequest } from './tiny-chunks.ts';

export type Listener = Awaited<ReturnType<typeof listen>>;

/** Times are in milliseconds. */
export interface ListenerOptions {
  keepAliveTimeoutMs: number;
  maxConnections: number;
  drainGraceMs: number;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  responseTimeoutMs?: number | undefined;
  shutdownRequestTimeoutMs?: number;
  /** Called for each new connection. */
  onConnection?: () => void;
}

// The head of a request, and the head with the body.
const defaultHeadersTimeoutMs = 10_000;
const defaultRequestTimeoutMs = 30_000;
/** The time in which a client must read the next bytes of a response. */
export const defaultResponseTimeoutMs = 60_000;

// During a shutdown. Node counts the head of a first request from the beginning of its connection.
const shutdownHeadersTimeoutMs = 500;
const defaultShutdownRequestTimeoutMs = 5_000;
// No connection for this time: probably none is on its way from the kernel.
const quietMs = 20;
// After this time, one event-loop round without a connection is enough. After twice this time, none is needed.
const maxQuietWaitMs = 500;

/**
 * Starts an HTTP server on `host` and `port` (0: any free port).
 * @param onHttpError called for each error that does not reach `requestListener`.
 * @throws the error of Node's server, such as EADDRINUSE.
 */
export async function listen(
  requestListener: RequestListener,
  host: string,
  port: number,
  options: ListenerOptions,
  onHttpError: OnHttpError = () => {},
) {
  const server = createServer({
    IncomingMessage: MeteredRequest,
    ServerResponse: EarlyClosingResponse,
    // `ambiguous-requests.ts` checks the header `Host` and responds in this server's error format.
    requireHostHeader: false,
    // By default, Node takes the first of several `Host` or `Authorization` headers.
    joinDuplicateHeaders: true,
    headersTimeout: options.headersTimeoutMs ?? defaultHeadersTimeoutMs,
    requestTimeout: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: 100,
  });
  server.maxConnections = options.maxConnections;
  let isShuttingDown = false;

  const connections = new Map<Duplex, ClientConnection>();
  let connectionCount = 0;
  server.on('connection', (socket) => {
    connectionCount += 1;
    options.onConnection?.();
    connections.set(socket, new ClientConnection(socket));
    const { setTimeout } = socket;
    // Yoga turns the timeout off, by 0, when it sends a stream.
    socket.setTimeout = (ms, onTimeout) => (ms === 0 ? socket : setTimeout.call(socket, ms, onTimeout));
    socket.once('close', () => connections.delete(socket));
  });
  server.setTimeout(options.responseTimeoutMs ?? defaultResponseTimeoutMs, (socket) => {
    // A running request has timeouts of its own. A client cannot mistake a broken response for a complete one.
    if (socket.writableLength > 0 || !connections.get(socket)?.isBusy) socket.destroy();
  });

  const toRequestId = createRequestIds();
  const onRequest: RequestListener = (request, response) => {
    const connection = connections.get(request.socket);
    // Behind a response that closes the connection, no further request runs.
    if (!connection?.addRequest(response)) return;
    if (isShuttingDown) response.shouldKeepAlive = false;
    const httpError = checkTransferCoding(request) ?? checkUrl(request);
    if (httpError === undefined) return requestListener(request, response);
    const requestId = toRequestId(request.headers['x-request-id']);
    writeHttpError(response, httpError, requestId);
    onHttpError({ requestId, status: httpError.status, code: httpError.code });
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('drop', () => onHttpError({ status: undefined, code: 'OVERLOADED' }));

  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    // A client whose connection closes before its first request sends that request again.
    if (code === 'ECONNRESET' || connection === undefined || (isShuttingDown && connection.isUnused)) {
      socket.destroy();
      return;
    }
    const httpError = parserError(code);
    connection.fail(() => {
      const requestId = toRequestId(undefined);
      const isWritten = writeErrorToSocket(socket, httpError, requestId);
      if (isWritten) onHttpError({ requestId, status: httpError.status, code: httpError.code });
    });
  });

  server.listen(port, host);
  await once(server, 'listening');
  // `address` returns an AddressInfo for every server on a TCP port.
  const address = server.address() as AddressInfo;

  /**
   * Waits until no accepted connection waits in the kernel, which would reset it when the server stops listening
   * (docs/design/how-it-starts-and-stops.md#the-shutdown). The first round without a new connection ends the wait.
   * Rounds begin with a pause, later they have none, and then they end in any case: see `maxQuietWaitMs`.
   */
  async function untilQuiet(): Promise<void> {
    const startedAtMs = performance.now();
    const maxWaitMs = Math.min(maxQuietWaitMs, options.drainGraceMs / 2);
    const isWithin = (ms: number) => performance.now() - startedAtMs < ms;
    let countBefore: number;
    do {
      countBefore = connectionCount;
      if (isWithin(maxWaitMs)) await sleep(quietMs);
      // Node accepts connections between its timers and `setImmediate`.
      await nextRound();
    } while (connectionCount > countBefore && isWithin(2 * maxWaitMs));
  }

  /**
   * Shuts the server down. Responses close their connections at once. Pending requests have `drainGraceMs` at the end.
   * @param acceptMs how long new connections are still accepted.
   */
  async function close(acceptMs = 0): Promise<void> {
    isShuttingDown = true;
    for (const connection of connections.values()) connection.closeAfterResponse();
    if (acceptMs > 0) await sleep(acceptMs);
    const graceEndsAtMs = performance.now() + options.drainGraceMs;
    await untilQuiet();
    // `close` of an HTTP server would stop the timeouts of requests, and cut off responses that clients still read
    // (docs/design/how-it-starts-and-stops.md#the-shutdown).
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    for (const connection of connections.values()) connection.closeIfIdle();
    // Busy connections close after their response (docs/design/how-it-starts-and-stops.md#the-shutdown).
    Object.assign(server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 });
    server.headersTimeout = shutdownHeadersTimeoutMs;
    server.requestTimeout = options.shutdownRequestTimeoutMs ?? defaultShutdownRequestTimeoutMs;
    await withTimeout(Math.max(0, graceEndsAtMs - performance.now()), closed);
    server.closeAllConnections();
    await closed;
    // Stops the timeouts of requests.
    server.close();
  }

  return { url: new URL(`http://${reachableHost(address)}:${address.port}`), close };
}

function reachableHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

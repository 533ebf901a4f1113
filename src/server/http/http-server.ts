import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { loopBudget } from '../../concurrency/event-loop-round.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import { ClientConnection } from './client-connection.ts';
import { type OnHttpError, writeHttpError } from './http-error.ts';
import { checkAmbiguity, checkUrl } from './request-checks.ts';
import { parserError, writeErrorToSocket } from './socket-errors.ts';

export interface Listener {
  url: URL;
  /**
   * Shuts the server down. Responses carry `connection: close` at once. After the wait the server accepts no new
   * connections. Pending requests then have `drainGraceMs`.
   */
  close(wait?: ShutdownWait): Promise<void>;
}

export interface ShutdownWait {
  /** How long new connections are still accepted, by default 0. */
  acceptMs?: number;
  /** How long idle connections then stay open for one more request each, by default 0. */
  idleMs?: number;
}

/** Times are in milliseconds. */
export interface ListenerOptions {
  keepAliveTimeoutMs: number;
  maxConnections: number;
  drainGraceMs: number;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  responseTimeoutMs?: number | undefined;
  bodyGraceMs?: number;
}

// The head of a request, and the head with the body.
const defaultHeadersTimeoutMs = 10_000;
const defaultRequestTimeoutMs = 30_000;
/** The time in which a client must read the next bytes of a response. */
export const defaultResponseTimeoutMs = 60_000;

// During a shutdown: for the head of a request that has begun, or of the first one of a connection.
const shutdownHeadersTimeoutMs = 500;
// During a shutdown: for bodies that are incomplete when it begins.
const defaultBodyGraceMs = 5_000;
// No connection for this time: probably none is on its way from the kernel, or from the primary process.
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
): Promise<Listener> {
  const { requestTimeoutMs = defaultRequestTimeoutMs, bodyGraceMs = defaultBodyGraceMs } = options;
  const headersTimeout = Math.min(options.headersTimeoutMs ?? defaultHeadersTimeoutMs, requestTimeoutMs);
  const server = createServer({
    // `request-checks.ts` checks the header `Host` and responds in this server's error format.
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(100, headersTimeout / 4)),
  });
  // Without `dropMaxConnection`, processes that share the port would pass surplus connections to each other forever.
  Object.assign(server, { maxConnections: options.maxConnections, dropMaxConnection: true });
  let isShuttingDown = false;

  const connections = new Map<Duplex, ClientConnection>();
  let connectionCount = 0;
  server.on('connection', (socket) => {
    connectionCount += 1;
    loopBudget.onConnection();
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
    if (connection === undefined || connection.isClosing) return;
    if (isShuttingDown) response.shouldKeepAlive = false;
    connection.addRequest(response, () => {
      const httpError = checkAmbiguity(request) ?? checkUrl(request);
      if (httpError === undefined) {
        requestListener(request, response);
        return;
      }
      const requestId = toRequestId(request.headers['x-request-id']);
      writeHttpError(response, httpError, requestId);
      onHttpError({ requestId, status: httpError.status, code: httpError.code });
    });
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('drop', () => onHttpError({ status: undefined, code: 'OVERLOADED' }));

  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    // The server itself does not read the rest of the request.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection?.isPaused) return;
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
   * (docs/decisions/0020-quiet-before-close.md).
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

  async function close({ acceptMs = 0, idleMs = 0 }: ShutdownWait = {}): Promise<void> {
    isShuttingDown = true;
    for (const connection of connections.values()) connection.closeAfterResponse();
    if (acceptMs > 0) await sleep(acceptMs);
    const graceEndsAtMs = performance.now() + idleMs + options.drainGraceMs;
    await untilQuiet();
    // `close` of an HTTP server would stop the timeouts of requests, and cut off responses that clients still read
    // (docs/decisions/0032-timeouts-during-a-shutdown.md).
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    if (idleMs > 0) await withTimeout(idleMs, closed);
    for (const connection of connections.values()) connection.closeWhenIdle();
    server.headersTimeout = Math.min(shutdownHeadersTimeoutMs, server.headersTimeout);
    const bodyGrace = setTimeout(() => Object.assign(server, { requestTimeout: 1 }), bodyGraceMs);
    const graceMs = Math.max(0, graceEndsAtMs - performance.now());
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(bodyGrace);
    clearTimeout(grace);
    // Stops the timeouts of requests.
    server.close();
  }

  return { url: new URL(`http://${reachableHost(address)}:${address.port}`), close };
}

function reachableHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

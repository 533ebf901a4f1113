import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { loopBudget } from '../../concurrency/event-loop-round.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import { createConnections } from './client-connections.ts';
import { type HttpError, type OnHttpError, writeHttpError } from './http-error.ts';
import { checkAmbiguity, checkUrl } from './request-checks.ts';
import { parserError, writeErrorToSocket } from './socket-errors.ts';

/** A server that listens on a port. */
export interface Listener {
  /** The URL of the server for clients on this machine. */
  url: URL;
  /**
   * Shuts the server down. Responses carry `connection: close` at once. After the wait the server accepts no new
   * connections. Pending requests then have `drainGraceMs` to finish before all connections are closed.
   */
  close(wait?: ShutdownWait): Promise<void>;
}

/** The two parts of the wait at the start of a shutdown, in milliseconds. */
export interface ShutdownWait {
  /** How long new connections are still accepted, by default `drainWaitMs`. */
  acceptMs?: number;
  /** How long idle connections then stay open for one more request each, by default 0. */
  idleMs?: number;
}

/** Settings of a listener. Times are in milliseconds. */
export interface ListenerOptions {
  /** The time after which an idle connection is closed. */
  keepAliveTimeoutMs: number;
  /** The maximum number of connections. Further connections are closed at once. */
  maxConnections: number;
  /** The time between the start of the shutdown and the end of listening. */
  drainWaitMs: number;
  /** The time pending requests have to finish after the server stopped listening. */
  drainGraceMs: number;
  /** The maximum time to receive the head of a request, by default 10 seconds. */
  headersTimeoutMs?: number;
  /** The maximum time to receive the head and body of a request, by default 30 seconds. */
  requestTimeoutMs?: number;
  stallTimeoutMs?: number;
  responseTimeoutMs?: number | undefined;
}

/** The time in which a client must read response bytes that wait. */
export const defaultResponseTimeoutMs = 60_000;
// About 200 bytes of a body per second are then enough.
const defaultStallTimeoutMs = 5_000;

// The interval between sweeps for idle connections during a shutdown.
const shutdownSweepMs = 50;
// A client that connected just before the shutdown may still send its first request.
const firstRequestGraceMs = 500;
// No connection for this time: probably none is on its way from the kernel, or from the primary process.
const quietMs = 20;
// After this time, one event-loop round without a connection is enough. After twice this time, none is needed.
const maxQuietWaitMs = 500;

const unsupportedExpectation: HttpError = {
  status: 417,
  code: 'BAD_REQUEST',
  message: 'The header "Expect" can be "100-continue" alone.',
  retryable: false,
};

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
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000 } = options;
  const { stallTimeoutMs = defaultStallTimeoutMs, responseTimeoutMs = defaultResponseTimeoutMs } = options;
  // Short enough that no connection outlasts its timeout by much.
  const sweepMs = Math.ceil(Math.min(1_000, stallTimeoutMs / 4, responseTimeoutMs / 4));
  const server = createServer({
    // `request-checks.ts` checks the header `Host` and responds in this server's error format.
    requireHostHeader: false,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(1_000, headersTimeoutMs / 4)),
  });
  // Node calls this function in `close`, and would cut off responses that clients still read. `sweepForShutdown` does not.
  server.closeIdleConnections = () => {};
  // Without `dropMaxConnection`, processes that share the port would pass surplus connections to each other forever.
  Object.assign(server, { maxConnections: options.maxConnections, dropMaxConnection: true });
  let isShuttingDown = false;

  const timeouts = { stallTimeoutMs, responseTimeoutMs };
  const connections = createConnections(timeouts, (socket) =>
    writeSocketError(socket, 'ERR_HTTP_REQUEST_TIMEOUT'),
  );
  let connectionCount = 0;
  server.on('connection', (socket) => {
    connectionCount += 1;
    loopBudget.onConnection();
    connections.add(socket);
  });
  const requestIdOf = createRequestIds();
  const onRequest: RequestListener = (request, response) => {
    if (connections.isClosing(request.socket)) return;
    if (isShuttingDown) response.shouldKeepAlive = false;
    connections.onRequest(request.socket, response, () => {
      const httpError = checkAmbiguity(request) ?? checkUrl(request);
      if (httpError === undefined) requestListener(request, response);
      else rejectRequest(request, response, httpError);
    });
  };
  server.on('request', onRequest);
  // The reader of the body sends `100 Continue`.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (request, response) => {
    if (connections.isClosing(request.socket)) return;
    connections.onRequest(request.socket, response, () =>
      rejectRequest(request, response, unsupportedExpectation),
    );
  });
  server.on('drop', () => onHttpError({ status: undefined, code: 'OVERLOADED' }));

  function rejectRequest({ headers }: IncomingMessage, response: ServerResponse, httpError: HttpError): void {
    const requestId = requestIdOf(headers['x-request-id']);
    writeHttpError(response, httpError, requestId);
    onHttpError({ requestId, status: httpError.status, code: httpError.code });
  }

  function writeSocketError(socket: Duplex, code: string | undefined): void {
    // The server itself does not read the rest of the request.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.isWaiting(socket)) return;
    if (code === 'ECONNRESET' || connections.isResponding(socket)) {
      socket.destroy();
      return;
    }
    const pending = connections.pendingResponse(socket);
    if (pending !== undefined) {
      // The error is that of a pipelined request. Without the pause, each further byte would be an error.
      socket.pause();
      pending.once('finish', () => writeSocketError(socket, code));
      return;
    }
    const requestId = requestIdOf(undefined);
    const httpError = parserError(code);
    const isWritten = writeErrorToSocket(socket, httpError, requestId);
    if (isWritten) onHttpError({ requestId, status: httpError.status, code: httpError.code });
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => writeSocketError(socket, error.code));

  server.listen(port, host);
  await once(server, 'listening');
  const sweep = setInterval(connections.sweep, sweepMs);
  sweep.unref();
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

  async function close({ acceptMs = options.drainWaitMs, idleMs = 0 }: ShutdownWait = {}): Promise<void> {
    isShuttingDown = true;
    for (const [, { response }] of connections.all()) {
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
    if (acceptMs > 0) await sleep(acceptMs);
    const graceEndsAtMs = performance.now() + idleMs + options.drainGraceMs;
    await untilQuiet();
    if (idleMs > 0) {
      await withTimeout(idleMs, new Promise<void>((resolve) => server.close(() => resolve())));
    }
    await new Promise<void>((resolve) => {
      // `server.close` waits for all connections and stops the request timeouts. Without the sweep it would wait for idle
      // connections, unused browser connections and incomplete requests.
      const shutdownAtMs = performance.now();
      const sweepForShutdown = () => {
        const elapsedMs = performance.now() - shutdownAtMs;
        connections.sweepForShutdown({
          first: elapsedMs >= firstRequestGraceMs,
          body: elapsedMs >= stallTimeoutMs,
        });
      };
      const shutdownSweep = setInterval(sweepForShutdown, shutdownSweepMs);
      const graceMs = Math.max(0, graceEndsAtMs - performance.now());
      const grace = setTimeout(() => server.closeAllConnections(), graceMs);
      server.close(() => {
        clearInterval(sweep);
        clearInterval(shutdownSweep);
        clearTimeout(grace);
        resolve();
      });
      sweepForShutdown();
    });
  }

  return { url: new URL(`http://${reachableHost(address)}:${address.port}`), close };
}

function reachableHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import { parserError, writeErrorToSocket } from './connection-errors.ts';
import { type ConnectionTimeouts, createConnections } from './connections.ts';
import { type HttpError, type OnHttpError, writeHttpError } from './http-error.ts';
import { urlError } from './request-checks.ts';

export interface Listener {
  /** Where the server can be reached from this machine. */
  url: URL;
  /**
   * Tells clients to send no more on the connections that they have, after `waitMs` takes no new ones, lets the requests
   * under way finish within `drainGraceMs`, and ends all connections.
   * @param waitMs `drainWaitMs` when left out.
   */
  close(waitMs?: number): Promise<void>;
}

/** Times in milliseconds. */
export interface ListenerOptions extends Omit<ConnectionTimeouts, 'stallTimeoutMs'> {
  /** How long a connection is kept without a request. */
  keepAliveTimeoutMs: number;
  /** How many connections there are at most; what comes beyond is closed at once. */
  maxConnections: number;
  drainWaitMs: number;
  drainGraceMs: number;
  /** How long the head of a request may take to come; 10 seconds when left out. */
  headersTimeoutMs?: number;
  /** How long a request may take to come, head and body; 30 seconds when left out. */
  requestTimeoutMs?: number;
  /** As of `PeerTimes`; 5 seconds when left out, so that 200 bytes a second are enough. */
  stallTimeoutMs?: number;
}

// How often to look for connections whose last answer is out.
const sweepAtEndMs = 50;
// Whoever has connected just before the end has a request on its way.
const firstRequestAtEndMs = 500;

const unmetExpectation: HttpError = {
  status: 417,
  code: 'BAD_REQUEST',
  message: 'The header "Expect" can be "100-continue" alone.',
  retryable: false,
};

/**
 * Listens on `host` and `port` (0: any free port).
 * @param onRefusal told of what `requestListener` never gets.
 * @throws the error of Node's server, such as EADDRINUSE.
 */
export async function listen(
  requestListener: RequestListener,
  host: string,
  port: number,
  options: ListenerOptions,
  onHttpError: OnHttpError = () => {},
): Promise<Listener> {
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, stallTimeoutMs = 5_000 } = options;
  const { responseTimeoutMs } = options;
  // Often enough that none lasts much longer than it may.
  const sweepMs = Math.ceil(Math.min(1_000, stallTimeoutMs / 4, responseTimeoutMs / 4));
  const server = createServer({
    // Held by the address of each request, with an error like all others.
    requireHostHeader: false,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(1_000, headersTimeoutMs / 4)),
  });
  // Where several processes share the port, this one would otherwise hand on what lies beyond to the others for ever.
  Object.assign(server, { maxConnections: options.maxConnections, dropMaxConnection: true });
  let isEnding = false;

  const times = { stallTimeoutMs, responseTimeoutMs };
  const connections = createConnections(times, (socket) => answerError(socket, 'ERR_HTTP_REQUEST_TIMEOUT'));
  server.on('connection', connections.add);
  const requestIdOf = createRequestIds();
  const onRequest: RequestListener = (request, response) => {
    connections.began(request.socket, response);
    if (isEnding) response.shouldKeepAlive = false;
    const httpError = urlError(request);
    if (httpError === undefined) requestListener(request, response);
    else refuse(request, response, httpError);
  };
  server.on('request', onRequest);
  // Whoever reads the body says that it may come.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (request, response) => {
    connections.began(request.socket, response);
    refuse(request, response, unmetExpectation);
  });
  server.on('drop', () => onHttpError({ status: undefined, code: 'OVERLOADED' }));

  function refuse({ headers }: IncomingMessage, response: ServerResponse, httpError: HttpError): void {
    const requestId = requestIdOf(headers['x-request-id']);
    writeHttpError(response, httpError, requestId);
    onHttpError({ requestId, status: httpError.status, code: httpError.code });
  }

  function answerError(socket: Duplex, code: string | undefined): void {
    if (code === 'ECONNRESET' || connections.isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const requestId = requestIdOf(undefined);
    const httpError = parserError(code);
    const isReported = writeErrorToSocket(socket, httpError, requestId);
    if (isReported) onHttpError({ requestId, status: httpError.status, code: httpError.code });
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerError(socket, error.code));

  server.listen(port, host);
  await once(server, 'listening');
  const sweep = setInterval(connections.sweep, sweepMs);
  sweep.unref();
  // A server that listens on a TCP port has an address of this form.
  const address = server.address() as AddressInfo;

  async function close(waitMs = options.drainWaitMs): Promise<void> {
    isEnding = true;
    for (const [, { response }] of connections.all()) {
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await new Promise<void>((resolve) => {
      // By itself Node ends the connections that are idle at this moment, and would wait for all others: for those that
      // become idle, for those that browsers open ahead and never use, and for a request that is never sent whole, to
      // which it gives no time any more.
      const endsAt = performance.now();
      const lookThrough = () => {
        const sinceMs = performance.now() - endsAt;
        connections.sweepAtEnd({ first: sinceMs >= firstRequestAtEndMs, body: sinceMs >= stallTimeoutMs });
      };
      const sweepAtEnd = setInterval(lookThrough, sweepAtEndMs);
      const grace = setTimeout(() => server.closeAllConnections(), options.drainGraceMs);
      server.close(() => {
        clearInterval(sweep);
        clearInterval(sweepAtEnd);
        clearTimeout(grace);
        resolve();
      });
      lookThrough();
    });
  }

  return { url: new URL(`http://${reachable(address)}:${address.port}`), close };
}

function reachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

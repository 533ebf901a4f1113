import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Timeouts for slow clients, in milliseconds. */
export interface ConnectionTimeouts {
  /** The maximum time for each KiB of a request body. */
  stallTimeoutMs: number;
  /** The maximum time in which a client reads buffered response bytes. */
  responseTimeoutMs: number;
}

/** The open connections of a server. */
export interface Connections {
  add(socket: Socket): void;
  /**
   * Records the latest request of a connection. Calls `run` now, or when fewer than 10 earlier requests of the connection
   * wait for their responses. Never if the connection closes before.
   */
  onRequest(socket: Socket, response: ServerResponse, run: () => void): void;
  /** Whether the latest response is partly sent, or waits behind another one. No error response can follow then. */
  isResponding(socket: Duplex): boolean;
  /** The latest response, if its request is complete and nothing of it is sent yet. */
  pendingResponse(socket: Duplex): ServerResponse | undefined;
  /** Whether pipelined requests wait. The server then reads nothing more from the connection. */
  isWaiting(socket: Duplex): boolean;
  /** Whether the connection closes after its latest response. A pipelined request behind that response must not run. */
  isClosing(socket: Duplex): boolean;
  all(): Iterable<readonly [Socket, ClientConnection]>;
  /** Closes the connections of clients that are too slow. */
  sweep(): void;
  /**
   * Closes idle connections while the server shuts down.
   * @param overdue whether connections without a complete first request, or with an incomplete body, are closed too.
   */
  sweepForShutdown(overdue: { first: boolean; body: boolean }): void;
}

/** The progress of one connection. Times are those of `performance.now()`. */
export interface ClientConnection {
  /** The response to the latest request. Undefined before the first request. */
  response: ServerResponse | undefined;
  /** The response before it. Undefined before the second request. */
  responseBefore: ServerResponse | undefined;
  /** The number of bytes received when the body last made progress. */
  progressBytes: number;
  /** The time of this progress. Undefined until the first sweep after the request. */
  progressAtMs: number | undefined;
  /** The requests whose responses have not ended on the network. */
  pendingRequests: number;
  /** Pipelined requests that wait until fewer requests are pending. */
  waitingRequests: (() => void)[];
  /** The time since which response bytes wait for the client. Undefined if no bytes wait. */
  blockedSince: number | undefined;
}

/** Further pipelined requests of a connection wait. Most clients pipeline none. */
const maxPendingRequests = 10;

// Fewer bytes count as no progress, so that a client cannot hold a connection with single bytes.
const minProgressBytes = 1_024;

/**
 * Tracks the connections of a server. The periodic `sweep` replaces a timer per connection.
 * @param onStall called with a socket whose body stalls. The callback sends the error and closes the socket.
 */
export function createConnections(
  timeouts: ConnectionTimeouts,
  onStall: (socket: Socket) => void,
): Connections {
  const connections = new Map<Duplex, ClientConnection>();

  function checkProgress(socket: Socket, connection: ClientConnection, now: number): void {
    if (socket.writableLength > 0) {
      connection.blockedSince ??= now;
      // The connection breaks, so that the client cannot mistake a partial response for a complete one.
      if (now - connection.blockedSince >= timeouts.responseTimeoutMs) socket.destroy();
      return;
    }
    connection.blockedSince = undefined;
    if (!isReceivingBody(connection)) return;
    if (
      connection.progressAtMs === undefined ||
      socket.bytesRead - connection.progressBytes >= minProgressBytes
    ) {
      connection.progressBytes = socket.bytesRead;
      connection.progressAtMs = now;
    } else if (now - connection.progressAtMs >= timeouts.stallTimeoutMs) onStall(socket);
  }

  function startWaiting(socket: Socket, connection: ClientConnection): void {
    const { waitingRequests } = connection;
    const isPaused = waitingRequests.length > 0;
    // A socket that is not writable closes after the response that has ended.
    while (socket.writable && connection.pendingRequests < maxPendingRequests) {
      const run = waitingRequests.shift();
      if (run === undefined) break;
      connection.pendingRequests += 1;
      connection.progressAtMs = undefined;
      run();
    }
    if (isPaused && waitingRequests.length === 0) resumeReading(socket);
  }

  return {
    add(socket) {
      const connection: ClientConnection = {
        response: undefined,
        responseBefore: undefined,
        progressBytes: 0,
        progressAtMs: undefined,
        pendingRequests: 0,
        waitingRequests: [],
        blockedSince: undefined,
      };
      connections.set(socket, connection);
      socket.once('close', () => {
        connections.delete(socket);
        connection.waitingRequests = [];
        // V8 keeps outgrown tables of a Map with their entries (docs/decisions/0004-long-lived-closures.md).
        connection.response = undefined;
        connection.responseBefore = undefined;
      });
    },
    onRequest(socket, response, run) {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.responseBefore = connection.response;
      connection.response = response;
      connection.progressAtMs = undefined;
      response.once('close', () => {
        connection.pendingRequests -= 1;
        startWaiting(socket, connection);
      });
      if (connection.pendingRequests < maxPendingRequests) {
        connection.pendingRequests += 1;
        run();
        return;
      }
      if (connection.waitingRequests.length === 0) pauseReading(socket);
      connection.waitingRequests.push(run);
    },
    isResponding(socket) {
      const { response, responseBefore } = connections.get(socket) ?? {};
      if (response === undefined || response.writableFinished) return false;
      return response.headersSent || responseBefore?.writableFinished === false;
    },
    pendingResponse(socket) {
      const response = connections.get(socket)?.response;
      return response?.req.complete === true && !response.writableFinished ? response : undefined;
    },
    isWaiting: (socket) => (connections.get(socket)?.waitingRequests.length ?? 0) > 0,
    isClosing: (socket) => connections.get(socket)?.response?.shouldKeepAlive === false,
    // `add` accepts only sockets.
    all: () => connections as Map<Socket, ClientConnection>,
    sweep() {
      const now = performance.now();
      for (const [socket, connection] of connections as Map<Socket, ClientConnection>)
        checkProgress(socket, connection, now);
    },
    sweepForShutdown(overdue) {
      for (const [socket, connection] of connections as Map<Socket, ClientConnection>) {
        const { response } = connection;
        const isIdle =
          response === undefined ? overdue.first : response.req.complete && response.writableFinished;
        if (isIdle) socket.destroy();
        else if (overdue.body && isReceivingBody(connection)) onStall(socket);
      }
    },
  };
}

/** Whether the client still owes a part of the latest request's body, whose response has not ended. */
function isReceivingBody({ response, waitingRequests }: ClientConnection): boolean {
  if (response === undefined || waitingRequests.length > 0) return false;
  return !response.req.complete && !response.writableEnded;
}

function pauseReading(socket: Socket): void {
  socket.pause();
  // Node resumes the socket when a request reads its body.
  socket.resume = () => socket;
}

function resumeReading(socket: Socket): void {
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}

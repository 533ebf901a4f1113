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
  /** Records the latest request of a connection. */
  onRequest(socket: Socket, response: ServerResponse): void;
  /** Whether the latest response is partly sent, or waits behind another one. No error response can follow then. */
  isResponding(socket: Duplex): boolean;
  /** The latest response, if its request is complete and nothing of it is sent yet. */
  pendingResponse(socket: Duplex): ServerResponse | undefined;
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
  /** The time since which response bytes wait for the client. Undefined if no bytes wait. */
  blockedSince: number | undefined;
}

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

  return {
    add(socket) {
      const connection: ClientConnection = {
        response: undefined,
        responseBefore: undefined,
        progressBytes: 0,
        progressAtMs: undefined,
        blockedSince: undefined,
      };
      connections.set(socket, connection);
      socket.once('close', () => {
        connections.delete(socket);
        // V8 keeps outgrown tables of a Map with their entries (docs/decisions/0004-long-lived-closures.md).
        connection.response = undefined;
        connection.responseBefore = undefined;
      });
    },
    onRequest(socket, response) {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.responseBefore = connection.response;
      connection.response = response;
      connection.progressAtMs = undefined;
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

/** Whether the body of the latest request is incomplete and its response has not ended. */
function isReceivingBody({ response }: ClientConnection): boolean {
  return response !== undefined && !response.req.complete && !response.writableEnded;
}

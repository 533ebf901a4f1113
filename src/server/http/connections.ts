import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How slow the other side of a connection may be. */
export interface ConnectionTimeouts {
  /** How long a body that is being sent may take for each KiB, in milliseconds. */
  stallTimeoutMs: number;
  /** How long an answer may take to be taken, in milliseconds. */
  responseTimeoutMs: number;
}

/** The connections of a server. */
export interface Connections {
  add(socket: Socket): void;
  /** Notes the request that a connection has sent last. */
  began(socket: Socket, response: ServerResponse): void;
  /** Whether the answer to the last request of a connection has begun, so that nothing else can be said there. */
  isAnswering(socket: Duplex): boolean;
  all(): Iterable<readonly [Socket, ClientConnection]>;
  /** Ends connections whose other side is too slow. */
  sweep(): void;
  /**
   * Ends connections on which no request is under way.
   * @param late whether first requests have had their time to come, of which nothing or half a head is here; and bodies.
   */
  sweepAtEnd(late: { first: boolean; body: boolean }): void;
}

export interface ClientConnection {
  /** The answer to its last request; undefined before the first. */
  response: ServerResponse | undefined;
  /** How much had come when a body was last seen to go on. */
  bytesRead: number;
  /** When that was; undefined until its request is looked at. */
  readAt: number | undefined;
  /** Since when an answer waits to be taken; undefined while none does. */
  waitsSince: number | undefined;
}

// Less in its time is no progress, or a byte now and then would hold a connection for as long as a request may take.
const leastProgressBytes = 1_024;

/**
 * Watches connections as a whole, a few times within the times given, rather than by a timer for each.
 * @param onStall told of a connection whose body does not come, to say so and to end it.
 */
export function createConnections(times: ConnectionTimeouts, onStall: (socket: Socket) => void): Connections {
  const connections = new Map<Duplex, ClientConnection>();

  function check(socket: Socket, connection: ClientConnection, now: number): void {
    if (socket.writableLength > 0) {
      connection.waitsSince ??= now;
      // Whatever has been said to it so far is lost, so that it can't take a part for the whole.
      if (now - connection.waitsSince >= times.responseTimeoutMs) socket.destroy();
      return;
    }
    connection.waitsSince = undefined;
    if (!isSending(connection)) return;
    if (connection.readAt === undefined || socket.bytesRead - connection.bytesRead >= leastProgressBytes) {
      connection.bytesRead = socket.bytesRead;
      connection.readAt = now;
    } else if (now - connection.readAt >= times.stallTimeoutMs) onStall(socket);
  }

  return {
    add(socket) {
      const connection: ClientConnection = {
        response: undefined,
        bytesRead: 0,
        readAt: undefined,
        waitsSince: undefined,
      };
      connections.set(socket, connection);
      socket.once('close', () => {
        connections.delete(socket);
        // A Map that has grown leaves its former table behind, with all that was in it, until a full collection of garbage.
        connection.response = undefined;
      });
    },
    began(socket, response) {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.response = response;
      connection.readAt = undefined;
    },
    isAnswering(socket) {
      const response = connections.get(socket)?.response;
      return response?.headersSent === true && !response.writableFinished;
    },
    // Only sockets are added.
    all: () => connections as Map<Socket, ClientConnection>,
    sweep() {
      const now = performance.now();
      for (const [socket, connection] of connections as Map<Socket, ClientConnection>)
        check(socket, connection, now);
    },
    sweepAtEnd(late) {
      for (const [socket, connection] of connections as Map<Socket, ClientConnection>) {
        const { response } = connection;
        const isIdle =
          response === undefined ? late.first : response.req.complete && response.writableFinished;
        if (isIdle) socket.destroy();
        else if (late.body && isSending(connection)) onStall(socket);
      }
    },
  };
}

/** Whether the body of its last request is still to come, and waited for. */
function isSending({ response }: ClientConnection): boolean {
  return response !== undefined && !response.req.complete && !response.writableEnded;
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How slow the other side of a connection may be. */
export interface PeerTimes {
  /** How long a body that is being sent may take for each KiB, in milliseconds. */
  stallTimeoutMs: number;
  /** How long an answer may take to be taken, in milliseconds. */
  responseTimeoutMs: number;
}

/** The connections of a server. */
export interface Peers {
  add(socket: Socket): void;
  /** Notes the request that a connection has sent last. */
  began(socket: Socket, response: ServerResponse): void;
  /** Whether the answer to the last request of a connection has begun, so that nothing else can be said there. */
  isAnswering(socket: Duplex): boolean;
  all(): Iterable<readonly [Socket, Peer]>;
  /** Ends connections whose other side is too slow. */
  sweep(): void;
  /**
   * Ends connections on which no request is under way.
   * @param late whether first requests have had their time to come, of which nothing or half a head is here; and bodies.
   */
  sweepAtEnd(late: { first: boolean; body: boolean }): void;
}

export interface Peer {
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
export function createPeers(times: PeerTimes, onStall: (socket: Socket) => void): Peers {
  const peers = new Map<Duplex, Peer>();

  function check(socket: Socket, peer: Peer, now: number): void {
    if (socket.writableLength > 0) {
      peer.waitsSince ??= now;
      // Whatever has been said to it so far is lost, so that it can't take a part for the whole.
      if (now - peer.waitsSince >= times.responseTimeoutMs) socket.destroy();
      return;
    }
    peer.waitsSince = undefined;
    if (!isSending(peer)) return;
    if (peer.readAt === undefined || socket.bytesRead - peer.bytesRead >= leastProgressBytes) {
      peer.bytesRead = socket.bytesRead;
      peer.readAt = now;
    } else if (now - peer.readAt >= times.stallTimeoutMs) onStall(socket);
  }

  return {
    add(socket) {
      const peer: Peer = { response: undefined, bytesRead: 0, readAt: undefined, waitsSince: undefined };
      peers.set(socket, peer);
      socket.once('close', () => {
        peers.delete(socket);
        // A Map that has grown leaves its former table behind, with all that was in it, until a full collection of garbage.
        peer.response = undefined;
      });
    },
    began(socket, response) {
      const peer = peers.get(socket);
      if (peer === undefined) return;
      peer.response = response;
      peer.readAt = undefined;
    },
    isAnswering(socket) {
      const response = peers.get(socket)?.response;
      return response?.headersSent === true && !response.writableFinished;
    },
    // Only sockets are added.
    all: () => peers as Map<Socket, Peer>,
    sweep() {
      const now = performance.now();
      for (const [socket, peer] of peers as Map<Socket, Peer>) check(socket, peer, now);
    },
    sweepAtEnd(late) {
      for (const [socket, peer] of peers as Map<Socket, Peer>) {
        const { response } = peer;
        const isIdle =
          response === undefined ? late.first : response.req.complete && response.writableFinished;
        if (isIdle) socket.destroy();
        else if (late.body && isSending(peer)) onStall(socket);
      }
    },
  };
}

/** Whether the body of its last request is still to come, and waited for. */
function isSending({ response }: Peer): boolean {
  return response !== undefined && !response.req.complete && !response.writableEnded;
}

import type { Duplex } from 'node:stream';

// How long a client may take to read an answer that it got before it had sent everything.
const lingerMs = 1_000;

/**
 * Ends a connection whose client may still be sending. Closed at once, the bytes that nobody reads would make the system
 * reset it, and the client would lose the answer with it.
 */
export function endLingering(socket: Duplex): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), lingerMs);
  late.unref();
  socket.once('close', () => clearTimeout(late));
}

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { wellAddressed } from './well-addressed.ts';

export interface Listener {
  /** Where the server can be reached from this machine. */
  url: URL;
  /** Takes no new connections, lets the requests under way finish within `graceMs`, and ends all connections. */
  close(): Promise<void>;
}

// How often to look for connections whose last answer is out.
const sweepMs = 50;

/** Listens on `host` and `port` (0: any free port). @throws the error of Node's server, such as EADDRINUSE. */
export async function listen(
  requestListener: RequestListener,
  host: string,
  port: number,
  graceMs = 10_000,
): Promise<Listener> {
  const server = createServer(wellAddressed(requestListener));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this form.
  const address = server.address() as AddressInfo;

  function close(): Promise<void> {
    return new Promise((resolve) => {
      // By itself Node ends the connections that are idle at this moment, and would wait for all others: for those that
      // become idle, for those that browsers open ahead and never use, and for a request that is never sent whole.
      const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
      const grace = setTimeout(() => server.closeAllConnections(), graceMs);
      server.close(() => {
        clearInterval(sweep);
        clearTimeout(grace);
        resolve();
      });
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    });
  }

  return { url: new URL(`http://${reachable(address)}:${address.port}`), close };
}

function reachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

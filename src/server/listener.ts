import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listener {
  /** Where the server can be reached from this machine. */
  url: URL;
  /** Takes no new connections, lets the requests under way finish, and ends idle connections. */
  close(): Promise<void>;
}

/** Listens on `host` and `port` (0: any free port). @throws the error of Node's server, such as EADDRINUSE. */
export async function listen(
  requestListener: RequestListener,
  host: string,
  port: number,
): Promise<Listener> {
  const server = createServer(requestListener);
  server.listen(port, host);
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this form.
  const address = server.address() as AddressInfo;
  return {
    url: new URL(`http://${reachable(address)}:${address.port}`),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function reachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}

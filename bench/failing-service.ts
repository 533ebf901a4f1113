import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A REST service of orders alone, which fails as it is told to. */
export interface FailingService {
  url: URL;
  /** From now on, so many of the requests fail, from 0 up to 1: in turn by a reset and by 503, or without any answer. */
  fail(share: number, isSilent?: boolean): void;
  /** How many requests have come since it was last asked. */
  requests(): number;
  close(): void;
}

export async function startFailingService(): Promise<FailingService> {
  let failing = 0;
  let silent = false;
  let seen = 0;
  const server = createServer((request, response) => {
    seen += 1;
    if (Math.random() < failing) {
      if (silent) return;
      if (seen % 2 === 0) request.socket.resetAndDestroy();
      else response.writeHead(503).end();
      return;
    }
    const name = request.url?.replace('/v1/', '');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ name, fulfiller: 'OPERATOR' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    fail(share, isSilent = false) {
      failing = share;
      silent = isSilent;
    },
    requests() {
      const requests = seen;
      seen = 0;
      return requests;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

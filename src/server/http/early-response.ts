import { type IncomingMessage, ServerResponse } from 'node:http';
import { stopReading } from './socket-errors.ts';
import type { MeteredRequest } from './tiny-chunks.ts';

/**
 * A response that closes its connection if it begins before the whole body is there: it refuses the request. Otherwise the
 * server would read the rest of the body for nothing, byte by byte for as long as the sender likes.
 */
export class EarlyClosingResponse extends ServerResponse<MeteredRequest> {
  // Node also calls it for a response without a call of `writeHead`.
  override writeHead(...args: unknown[]): this {
    if (!this.req.complete && hasBody(this.req)) {
      this.shouldKeepAlive = false;
      // Before Node's own listener, which closes the connection.
      this.prependOnceListener('finish', () => {
        if (this.socket !== null) stopReading(this.socket);
      });
    }
    // The arguments are those of one of the overloads.
    return super.writeHead(...(args as Parameters<ServerResponse['writeHead']>));
  }
}

/** Without a body, too, a request is incomplete while Node calls its listener. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

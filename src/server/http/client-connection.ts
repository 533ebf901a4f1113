import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { stopReading } from './socket-errors.ts';

/** Most clients pipeline no requests. */
const maxRunningRequests = 10;

/** A connection of a client. At most 10 pipelined requests run: the response to the tenth closes the connection. */
export class ClientConnection {
  readonly #socket: Socket;
  /** The response to the latest request that has run. */
  #latest: ServerResponse | undefined;
  #runningRequests = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', () => {
      // The server's Map may keep this object: V8 keeps outgrown tables of a Map with their entries
      // (docs/design/how-it-stays-fast.md#objects). It must not keep the response, too.
      this.#latest = undefined;
    });
  }

  /** @returns whether the request may run. One behind a response that closes the connection must not. */
  addRequest(response: ServerResponse): boolean {
    if (this.#latest?.shouldKeepAlive === false) {
      stopReading(this.#socket);
      return false;
    }
    this.#latest = response;
    this.#runningRequests += 1;
    if (this.#runningRequests === maxRunningRequests) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#runningRequests -= 1;
    });
    return true;
  }

  /** Whether requests run whose responses have not ended on the network. */
  get isBusy(): boolean {
    return this.#runningRequests > 0;
  }

  get isUnused(): boolean {
    return this.#latest === undefined;
  }

  /** Closes the connection after its latest response, if nothing of that response is sent yet. */
  closeAfterResponse(): void {
    if (this.#latest?.headersSent === false) this.#latest.shouldKeepAlive = false;
  }

  /** Closes the connection if the client has its latest response, and has sent that request as a whole. */
  closeIfIdle(): void {
    if (this.#latest?.writableFinished === true && this.#latest.req.complete) this.#socket.destroy();
  }

  /**
   * Calls `writeError` after the responses to complete requests. Breaks the connection if the error would follow a part
   * of a response, or would take the place of an earlier one.
   */
  fail(writeError: () => void): void {
    const latest = this.#latest;
    if (latest === undefined || latest.writableFinished) writeError();
    else if (latest.req.complete) {
      // The error is that of a pipelined request. Without the pause, each further byte would be an error.
      this.#socket.pause();
      latest.once('finish', writeError);
    } else if (latest.headersSent || this.#runningRequests > 1) this.#socket.destroy();
    else writeError();
  }
}

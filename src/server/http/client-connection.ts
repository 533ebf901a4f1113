import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Most clients pipeline no requests. */
const maxRunningRequests = 10;

/** A connection of a client. Its pipelined requests run at most 10 at a time, and further ones wait. */
export class ClientConnection {
  readonly #socket: Socket;
  /** The response to the latest request. */
  #latest: ServerResponse | undefined;
  #runningRequests = 0;
  #waitingRequests: (() => void)[] = [];
  #closesWhenIdle = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', () => {
      this.#waitingRequests = [];
      // V8 keeps outgrown tables of a Map with their entries (docs/decisions/0004-long-lived-closures.md).
      this.#latest = undefined;
    });
  }

  /** Calls `run` now, or when fewer than 10 earlier requests wait for their responses. Never if the connection closes before. */
  addRequest(response: ServerResponse, run: () => void): void {
    this.#latest = response;
    response.once('close', () => {
      this.#runningRequests -= 1;
      this.#runWaiting();
      if (this.#closesWhenIdle) this.closeWhenIdle();
    });
    if (this.#runningRequests < maxRunningRequests) {
      this.#runningRequests += 1;
      run();
      return;
    }
    if (!this.isPaused) pauseReading(this.#socket);
    this.#waitingRequests.push(run);
  }

  /** Whether the connection closes after its latest response. A pipelined request behind that response must not run. */
  get isClosing(): boolean {
    return this.#latest?.shouldKeepAlive === false;
  }

  /** Whether requests run whose responses have not ended on the network. */
  get isBusy(): boolean {
    return this.#runningRequests > 0;
  }

  /** Whether pipelined requests wait. The server then reads nothing more from the connection. */
  get isPaused(): boolean {
    return this.#waitingRequests.length > 0;
  }

  get isUnused(): boolean {
    return this.#latest === undefined;
  }

  /** Closes the connection after its latest response, if nothing of that response is sent yet. */
  closeAfterResponse(): void {
    if (this.#latest?.headersSent === false) this.#latest.shouldKeepAlive = false;
  }

  /** Closes the connection once the client has its latest response, and has sent that request as a whole. */
  closeWhenIdle(): void {
    this.#closesWhenIdle = true;
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

  #runWaiting(): void {
    if (!this.isPaused) return;
    // A socket that is not writable closes after the response that has ended.
    while (this.isPaused && this.#socket.writable && this.#runningRequests < maxRunningRequests) {
      this.#runningRequests += 1;
      this.#waitingRequests.shift()?.();
    }
    if (!this.isPaused) resumeReading(this.#socket);
  }
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

import type { ServerResponse } from 'node:http';
import type { Owner } from '../../concurrency/owner.ts';
import type { UnreadBytes } from '../http/unread-response-bytes.ts';
import type { Answer } from './answer.ts';
import type { Transport } from './transport.ts';
import type { Watcher } from './watch.ts';

/** Why a stream ends. `client`: the client left, or took nothing for a minute. */
export type EndReason = 'client' | 'refused' | 'rejected token' | 'age' | 'shutdown';

export interface StreamOptions {
  response: ServerResponse;
  transport: Transport;
  /** Whom the next bytes count to. */
  currentOwner(): Owner;
  unread: UnreadBytes;
  /** Called when the client's connection has taken an answer. */
  onSent(answer: Answer): void;
  /** Called once. The stream is no watcher any more. Its client may still take the last event. */
  onEnd(): void;
  /** Called once, after `onEnd`: nothing follows, and `events` stays. */
  onClose(stream: LiveStream): void;
}

/** The stream of one client: at most one answer on its way, and the latest one behind it. */
export class LiveStream implements Watcher {
  /** The answers that the client has taken. */
  events = 0;
  /** The errors of the last answer, by code. */
  errors: Record<string, number> | undefined;
  endReason: EndReason | undefined;
  readonly #options: StreamOptions;
  #sentKey: string | undefined;
  #pending: Answer | undefined;
  #isBusy = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    options.response.once('close', () => {
      this.#end('client');
      options.onClose(this);
    });
  }

  get response(): ServerResponse {
    return this.#options.response;
  }

  /** Sends the head and the first bytes at once. @param headers names and values in turn */
  open(headers: string[]): void {
    this.response.writeHead(200, headers);
    this.#write(this.#options.transport.opening);
  }

  /** Sends an answer, unless its client has an equal one. A client that still reads gets the latest one afterwards. */
  take(answer: Answer): void {
    if (this.endReason !== undefined) return;
    const isNew = answer.key !== this.#sentKey;
    // The last answer does not wait for a slow client: until then, the stream would go on making calls.
    if (this.#isBusy && !answer.isLast) this.#pending = isNew ? answer : undefined;
    else if (isNew) this.#send(answer);
  }

  /** Shows clients and proxies that the stream is alive. A client that is still reading needs no sign. */
  beat(): void {
    if (!this.#isBusy && this.endReason === undefined) this.#write(this.#options.transport.heartbeat);
  }

  /** Ends the stream so that its client comes again: without the sign of completion. */
  break(reason: 'age' | 'shutdown'): void {
    if (!this.#end(reason)) return;
    this.#options.response.end();
  }

  #send(answer: Answer): void {
    const { transport, onSent } = this.#options;
    this.#sentKey = answer.key;
    this.errors = answer.errors;
    this.#write(answer.frame(transport), () => {
      this.events += 1;
      onSent(answer);
    });
    if (answer.isLast) this.#complete(answer);
  }

  #complete({ errors }: Answer): void {
    if (!this.#end(errors?.UNAUTHENTICATED === undefined ? 'refused' : 'rejected token')) return;
    this.#options.response.end(this.#options.transport.completion);
  }

  /** Writes, and is busy until the connection has taken the bytes. Unread bytes count like those of other responses. */
  #write(chunk: string | Buffer, onTaken?: () => void): void {
    const { response, unread, currentOwner } = this.#options;
    const { socket } = response.req;
    // Its `close` follows.
    if (socket.destroyed) return;
    const release = unread.hold(currentOwner(), socket, Buffer.byteLength(chunk));
    let isHeld = true;
    const giveBack = () => {
      if (isHeld) release();
      isHeld = false;
      response.off('close', giveBack);
    };
    // Node drops the callback of a write whose connection breaks meanwhile.
    response.once('close', giveBack);
    this.#isBusy = true;
    response.write(chunk, (error) => {
      giveBack();
      this.#isBusy = false;
      if (error != null) return;
      onTaken?.();
      const pending = this.#pending;
      this.#pending = undefined;
      if (pending !== undefined) this.take(pending);
    });
  }

  /** @returns false if the stream has ended before */
  #end(reason: EndReason): boolean {
    if (this.endReason !== undefined) return false;
    this.endReason = reason;
    this.#pending = undefined;
    this.#options.onEnd();
    return true;
  }
}

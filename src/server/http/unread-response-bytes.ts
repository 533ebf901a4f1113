import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Owner } from '../../concurrency/owner.ts';
import { Usage } from '../../concurrency/usage.ts';

/** Response bytes that no client has taken yet. One token has half. */
export const defaultUnreadBudgetBytes = 67_108_864;

/** How long there may be no room. Then connections that have taken no whole response in this time may be closed. */
const maxFullMs = 1_000;
/** The time from one close to the next: a closed connection gives back its bytes within it. */
const closeMs = 10;

/** What one connection has not taken. */
interface Reader {
  bytes: number;
  /** Whether the latest response is for a token that REST has not accepted. */
  isStranger: boolean;
  /** When the connection last had nothing unread, or took a whole response. A time of `performance.now()`. */
  takenAtMs: number;
}

/**
 * The bytes of responses that are made, until their clients have taken them. The bytes are in memory, so clients that
 * read nothing must not use up the room of the others.
 */
export class UnreadBytes {
  readonly #usage: Usage;
  readonly #onRoom: () => void;
  readonly #readers = new Map<Socket, Reader>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onRoom called when bytes are given back, which may have changed `mayStart`. */
  constructor(totalBytes: number, onRoom: () => void) {
    this.#usage = new Usage(totalBytes, totalBytes / 2);
    this.#onRoom = onRoom;
  }

  /** Whether an owner may have more responses made. While there is no room for all, owners have equal parts. */
  mayStart(owner: Owner): boolean {
    const { isUsedUp } = this.#usage;
    return this.#usage.ownExcess(owner) === undefined && !(isUsedUp && this.#usage.isAboveEqualPart(owner));
  }

  /** Counts the bytes of a response until it is closed. Each response once. */
  add(owner: Owner, response: ServerResponse, bytes: number): void {
    // A closed response emits no second `close`, and would be counted forever.
    if (!(bytes > 0) || response.closed) return;
    response.once('close', this.hold(owner, response.req.socket, bytes));
  }

  /** Counts bytes that a connection has not taken yet. @returns a function that gives them back. Call it once. */
  hold(owner: Owner, socket: Socket, bytes: number): () => void {
    const reader = this.#readers.get(socket) ?? { bytes: 0, isStranger: false, takenAtMs: performance.now() };
    this.#readers.set(socket, reader);
    reader.isStranger = owner.connection !== undefined;
    reader.bytes += bytes;
    this.#usage.add(owner, bytes);
    if (this.#isFull) this.#timer ??= setTimeout(() => this.#closeSlowest(), maxFullMs).unref();
    return () => {
      reader.bytes -= bytes;
      reader.takenAtMs = performance.now();
      if (reader.bytes === 0) this.#readers.delete(socket);
      this.#usage.add(owner, -bytes);
      this.#onRoom();
    };
  }

  get #isFull(): boolean {
    return this.#usage.isUsedUp || this.#usage.isUsedUpByStrangers;
  }

  /** Closes the connection that leaves the most, and after it the next one, until there is room. */
  #closeSlowest(): void {
    this.#timer = undefined;
    if (!this.#isFull) return;
    const slowBeforeMs = performance.now() - maxFullMs;
    let most: [Socket, Reader] | undefined;
    for (const entry of this.#readers) {
      const [, reader] = entry;
      const isSlow = reader.takenAtMs <= slowBeforeMs;
      // While only the part of tokens that REST has not accepted is full, only their connections make room.
      const wouldMakeRoom = this.#usage.isUsedUp || reader.isStranger;
      if (!isSlow || !wouldMakeRoom) continue;
      if (most === undefined || reader.bytes > most[1].bytes) most = entry;
    }
    // The connection breaks, so that the client cannot mistake a part of a response for the whole.
    most?.[0].destroy();
    this.#timer = setTimeout(() => this.#closeSlowest(), closeMs).unref();
  }
}

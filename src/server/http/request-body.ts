import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { HttpError } from './http-error.ts';
import { bodyTooLarge } from './request-checks.ts';

/** How many bytes of bodies that are not here whole yet are held, of all requests together. */
export interface BodyBudget {
  /**
   * Counts so many more bytes of a body of which `held` are counted already.
   * @returns whether there is room for them; where there is none, they are not counted.
   */
  take(bytes: number, held: number): boolean;
  /** Gives back all that was counted for a body. */
  free(bytes: number): void;
}

/** How many bytes one process holds at most: 64 bodies of the largest size that is taken by default. */
export const maxBodyBytesAtOnce = 67_108_864;

// Nearly all requests are smaller, and none of these is to suffer from those who send much and never end.
const alwaysTakenBytes = 16_384;

export function createBodyBudget(maxBytes: number): BodyBudget {
  let taken = 0;
  return {
    take(bytes, held) {
      if (taken + bytes > maxBytes && held + bytes > alwaysTakenBytes) return false;
      taken += bytes;
      return true;
    },
    free(bytes) {
      taken -= bytes;
    },
  };
}

/** What came of reading a body: a refusal where it is larger than it may be, broken off, or had no room. */
export type BodyRead = Buffer | HttpError;

/** What the JSON of a body is, or why it is none. */
export type BodyParsed = { json: object } | { httpError: HttpError };

/**
 * Reads the bytes of a request's body. Never holds more than `maxBytes`: what comes beyond is thrown away unread.
 * @param budget what all bodies share; this one's part is given back in whatever way its reading ends.
 * @param done called once with the bytes, or with a refusal where the body is larger, whatever its header said, where there
 *   is no room for it, or where the client broke it off.
 */
export function receiveBody(
  body: Readable,
  maxBytes: number,
  budget: BodyBudget,
  done: (read: BodyRead) => void,
): void {
  let callback: typeof done | undefined = done;
  let held: Buffer = nothing;
  let bytes = 0;

  function settle(read: BodyRead): void {
    // A connection that breaks once a body was refused is an error of it too.
    if (callback === undefined) return;
    const notify = callback;
    // The listeners stay for as long as the connection has no other request, and are to hold nothing.
    callback = undefined;
    held = nothing;
    budget.free(bytes);
    notify(read);
  }
  function take(chunk: Buffer): void {
    // What follows a refusal is thrown away.
    if (callback === undefined) return;
    const needed = bytes + chunk.length;
    if (needed > maxBytes) settle(bodyTooLarge(maxBytes, 'more'));
    else if (!budget.take(chunk.length, bytes)) settle(noRoom);
    else {
      // Into one piece, as a body in chunks of a byte each would take a hundred times its size.
      held = bytes === 0 ? chunk : appended(held, bytes, chunk, maxBytes);
      bytes = needed;
    }
  }
  function over(): void {
    if (!body.readableEnded) settle(brokenOff);
    else settle(held.length === bytes ? held : held.subarray(0, bytes));
  }

  if (body.destroyed) {
    settle(brokenOff);
    return;
  }
  // For good, as `once` and `off` cost more than the listeners do. A client that goes away is an error of the stream, and
  // nobody else's.
  body.on('error', over).on('data', take).on('end', over).on('close', over);
}

/** As `receiveBody`, of which it is the promise. */
export function readBody(body: Readable, maxBytes: number, budget: BodyBudget): Promise<BodyRead> {
  return new Promise((resolve) => receiveBody(body, maxBytes, budget, resolve));
}

const nothing = Buffer.alloc(0);

/** What is held with a chunk behind its first `bytes`, in a piece twice as large where it is full. */
function appended(held: Buffer, bytes: number, chunk: Buffer, maxBytes: number): Buffer {
  const needed = bytes + chunk.length;
  let room = held;
  if (held.length < needed) {
    room = Buffer.allocUnsafe(Math.max(needed, Math.min(maxBytes, 2 * held.length)));
    held.copy(room, 0, 0, bytes);
  }
  chunk.copy(room, bytes);
  return room;
}

const noRoom: HttpError = {
  status: 503,
  code: 'OVERLOADED',
  message: 'The bodies that are being sent take as much room as this server has. Send it again soon.',
  retryable: true,
  retryAfterMs: 1_000,
  // What is left of the body is not read.
  headers: { connection: 'close' },
};

const brokenOff = badRequest('The body broke off before its end.');

/** The JSON of a body; its faults are told without quoting it. */
export function parseBody(bytes: Buffer): BodyParsed {
  // Read anyway, it would change what is written without a word.
  if (!isUtf8(bytes)) return { httpError: badRequest('POST body is not UTF-8.') };
  return parseText(bytes.toString('utf8'));
}

/** As `parseBody`, of a text. */
export function parseText(text: string): BodyParsed {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null) return { json };
    const came = json === null ? 'null' : typeof json;
    return { httpError: badRequest(`POST body is expected to be object but received ${came}`) };
  } catch {
    return { httpError: badRequest('POST body sent invalid JSON.') };
  }
}

function badRequest(message: string): HttpError {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}

import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { BodyBudget } from './body-budget.ts';
import type { Refusal } from './refusal.ts';
import { bodyTooLarge } from './request-form.ts';

/**
 * The bytes of a request's body. Never holds more than `maxBytes`: what comes beyond is thrown away unread.
 * @param budget what all bodies share; this one's part is given back in whatever way its reading ends.
 * @returns a refusal where it is larger, whatever its header said, where there is no room for it, or where the client
 *   broke it off.
 */
export function readBody(body: Readable, maxBytes: number, budget: BodyBudget): Promise<Buffer | Refusal> {
  return new Promise((resolve) => {
    let held: Buffer = Buffer.alloc(0);
    let bytes = 0;
    let isSettled = false;

    function settle(outcome: Buffer | Refusal): void {
      // A connection that breaks once a body was refused is an error of it too.
      if (isSettled) return;
      isSettled = true;
      body.off('data', take).off('end', finish).off('close', breakOff);
      budget.free(bytes);
      resolve(outcome);
    }
    function refuse(refusal: Refusal): void {
      settle(refusal);
      body.resume();
    }
    function take(chunk: Buffer): void {
      const needed = bytes + chunk.length;
      if (needed > maxBytes) refuse(bodyTooLarge(maxBytes, 'more'));
      else if (!budget.take(chunk.length, bytes)) refuse(noRoom);
      else {
        // Into one piece, as a body in chunks of a byte each would take a hundred times its size.
        held = bytes === 0 ? chunk : appended(held, bytes, chunk, maxBytes);
        bytes = needed;
      }
    }
    function finish(): void {
      settle(held.length === bytes ? held : held.subarray(0, bytes));
    }
    function breakOff(): void {
      settle(badRequest('The body broke off before its end.'));
    }

    if (body.destroyed) return breakOff();
    // A client that goes away is an error of the stream, and nobody else's.
    body.on('error', breakOff).on('data', take).once('end', finish).once('close', breakOff);
  });
}

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

const noRoom: Refusal = {
  status: 503,
  code: 'OVERLOADED',
  message: 'The bodies that are being sent take as much room as this server has. Send it again soon.',
  retryable: true,
  retryAfterMs: 1_000,
  // What is left of the body is not read.
  headers: { connection: 'close' },
};

/** The JSON of a body; its faults are told without quoting it. */
export function parseBody(bytes: Buffer): { json: object } | { refusal: Refusal } {
  // Read anyway, it would change what is written without a word.
  if (!isUtf8(bytes)) return { refusal: badRequest('POST body is not UTF-8.') };
  return parseText(bytes.toString('utf8'));
}

/** As `parseBody`, of a text. */
export function parseText(text: string): { json: object } | { refusal: Refusal } {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null) return { json };
    const came = json === null ? 'null' : typeof json;
    return { refusal: badRequest(`POST body is expected to be object but received ${came}`) };
  } catch {
    return { refusal: badRequest('POST body sent invalid JSON.') };
  }
}

function badRequest(message: string): Refusal {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}

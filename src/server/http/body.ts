import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { Refusal } from './refusal.ts';
import { bodyTooLarge } from './request-form.ts';

/**
 * The bytes of a request's body. Never holds more than `maxBytes`: what comes beyond is thrown away unread.
 * @returns a refusal where it is larger, whatever its header said, or where the client broke it off.
 */
export function readBody(body: Readable, maxBytes: number): Promise<Buffer | Refusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;

    function settle(outcome: Buffer | Refusal): void {
      body.off('data', take).off('end', finish).off('close', breakOff);
      resolve(outcome);
    }
    function take(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      settle(bodyTooLarge(maxBytes, 'more'));
      body.resume();
    }
    function finish(): void {
      const [only] = chunks;
      settle(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes));
    }
    function breakOff(): void {
      settle(badRequest('The body broke off before its end.'));
    }

    if (body.destroyed) return breakOff();
    // A client that goes away is an error of the stream, and nobody else's.
    body.on('error', breakOff).on('data', take).once('end', finish).once('close', breakOff);
  });
}

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

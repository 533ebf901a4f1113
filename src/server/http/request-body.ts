import type { Readable } from 'node:stream';
import { decodeUtf8 } from '../../base/decode-text.ts';
import { parseJson } from '../../base/json-object.ts';
import { badRequest, type HttpError, overloaded, rejection } from './http-error.ts';

export const defaultMaxBodyBytes = 1_048_576;

// Bodies up to this size ignore the budget, so that slow large uploads cannot block ordinary requests.
const alwaysAcceptedBytes = 16_384;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** A budget of bytes for all bodies that are being read. @param maxBytes by default 64 bodies of the maximum size. */
export function createBodyBudget(maxBytes = 64 * defaultMaxBodyBytes) {
  let usedBytes = 0;
  return {
    /** Reserves bytes for a body, of which `bufferedBytes` have arrived. @returns false if the budget is exhausted. */
    reserve(bytes: number, bufferedBytes: number): boolean {
      const isExhausted = usedBytes + bytes > maxBytes;
      if (isExhausted && bufferedBytes + bytes > alwaysAcceptedBytes) return false;
      usedBytes += bytes;
      return true;
    },
    release(bytes: number): void {
      usedBytes -= bytes;
    },
  };
}

/** An error if the body is too large or incomplete, or if the budget is exhausted. */
export type BodyReadResult = Buffer | HttpError;

export type ParsedBody = { json: object } | { httpError: HttpError };

/**
 * Reads the body of a request. Buffers at most `maxBytes` and discards further bytes.
 * @param budget shared by all bodies. The bytes of this body are released before `done` is called.
 * @param done called once, with the bytes or with an error.
 */
export function receiveBody(
  body: Readable,
  maxBytes: number,
  budget: BodyBudget,
  done: (read: BodyReadResult) => void,
): void {
  // Undefined once the body is read or rejected.
  let callback: typeof done | undefined = done;
  let buffer: Buffer = emptyBuffer;
  let bytes = 0;

  function finish(read: BodyReadResult): void {
    // The stream may fail after the body was rejected.
    if (callback === undefined) return;
    const notify = callback;
    // The listeners live until the next request of the connection, so they must not retain the buffer.
    callback = undefined;
    buffer = emptyBuffer;
    budget.release(bytes);
    notify(read);
  }
  function onData(chunk: Buffer): void {
    if (callback === undefined) return;
    const totalBytes = bytes + chunk.length;
    if (totalBytes > maxBytes) finish(bodyTooLarge(maxBytes));
    else if (!budget.reserve(chunk.length, bytes)) finish(budgetExhausted);
    else {
      // One buffer, because a list of one-byte chunks would take a hundred times the size of the body.
      buffer = bytes === 0 ? chunk : appendChunk(buffer, bytes, chunk, maxBytes);
      bytes = totalBytes;
    }
  }
  function onEnd(): void {
    if (!body.readableEnded) finish(bodyIncomplete);
    else finish(buffer.length === bytes ? buffer : buffer.subarray(0, bytes));
  }

  if (body.destroyed) {
    finish(bodyIncomplete);
    return;
  }
  // The listeners are never removed, because `once` and `off` cost more. Without the error listener, a client that
  // disconnects would raise an uncaught error.
  body.on('error', onEnd).on('data', onData).on('end', onEnd).on('close', onEnd);
}

/** Like `receiveBody`. The promise never rejects. */
export function readBody(body: Readable, maxBytes: number, budget: BodyBudget): Promise<BodyReadResult> {
  return new Promise((resolve) => receiveBody(body, maxBytes, budget, resolve));
}

export function bodyTooLarge(maxBodyBytes: number): HttpError {
  const message = `The body exceeds the limit of ${maxBodyBytes} bytes. Send a smaller body.`;
  // The rest of the body is not read.
  return { ...rejection(413, 'REQUEST_TOO_LARGE', message), headers: { connection: 'close' } };
}

const emptyBuffer = Buffer.alloc(0);

/** Appends a chunk to the first `bytes` of a buffer. A full buffer is replaced by one of twice the size. */
function appendChunk(buffer: Buffer, bytes: number, chunk: Buffer, maxBytes: number): Buffer {
  const totalBytes = bytes + chunk.length;
  let target = buffer;
  if (buffer.length < totalBytes) {
    target = Buffer.allocUnsafe(Math.max(totalBytes, Math.min(maxBytes, 2 * buffer.length)));
    buffer.copy(target, 0, 0, bytes);
  }
  chunk.copy(target, bytes);
  return target;
}

const budgetExhausted: HttpError = {
  ...overloaded('The server is receiving too many request bodies at once. Retry later.'),
  // The rest of the body is not read.
  headers: { connection: 'close' },
};

const bodyIncomplete = badRequest('The body ended too early.');

const severalOperations = badRequest(
  'The body must be one JSON object, not a list. Send each operation in its own request, or combine all fields in one operation with aliases.',
);

const notUtf8 = badRequest(
  'The body is not valid UTF-8. Encode the JSON in UTF-8 and send the request again.',
);

/** To parse this many values takes about 15 ms, and the limit of operations is lower. */
const maxBodyValues = 50_000;
const tooManyMessage = `The body has more than ${maxBodyValues} values. Split the operation into several.`;
const tooManyValues = rejection(400, 'GRAPHQL_LIMIT_EXCEEDED', tooManyMessage);
const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/** Whether a body has too many values to be parsed: each follows a comma or an opening bracket. */
function hasTooManyValues(bytes: Buffer): boolean {
  let values = 0;
  let isInText = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) isInText = !isInText;
    else if (byte === backslash) index += 1;
    else if (!isInText && (byte === comma || byte === bracket || byte === brace)) values += 1;
  }
  return values > maxBodyValues;
}

/** Parses the JSON of a body. Error messages do not quote the body. */
export function parseBody(bytes: Buffer): ParsedBody {
  // Decoding invalid UTF-8 would silently change the values of a write.
  const text = decodeUtf8(bytes);
  if (text === undefined) return { httpError: notUtf8 };
  if (bytes.length > maxBodyValues && hasTooManyValues(bytes)) return { httpError: tooManyValues };
  const json = parseJson(text);
  if (json === undefined) return { httpError: badRequest('The body is not valid JSON.') };
  if (Array.isArray(json)) return { httpError: severalOperations };
  if (typeof json === 'object' && json !== null) return { json };
  const type = json === null ? 'null' : typeof json;
  return { httpError: badRequest(`The body must be a JSON object, but its type is ${type}.`) };
}

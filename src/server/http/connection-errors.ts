import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpError, httpErrorBody, httpErrorHeaders } from './http-error.ts';
import { fixedHeaders } from './response-headers.ts';

/** What came too slowly, be it the head or the body. */
export const requestTimeout: HttpError = {
  status: 408,
  code: 'REQUEST_TIMEOUT',
  message: 'The request did not come in time: send it faster.',
  retryable: true,
};

/** What is told of a request that Node's parser has given up on. */
export function parserError(code: string | undefined): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The headers are larger than the 16384 bytes that this server takes: send less.';
    return { status: 431, code: 'REQUEST_TOO_LARGE', message, retryable: false };
  }
  return {
    status: 400,
    code: 'BAD_REQUEST',
    message: 'What came is no request of HTTP.',
    retryable: false,
  };
}

/**
 * Answers on the connection itself, where there is no request to answer, and ends it.
 * @returns whether anything could be said.
 */
export function writeErrorToSocket(socket: Duplex, httpError: HttpError, requestId: string): boolean {
  // It has been answered, or has nobody at its other end.
  if (!socket.writable || socket.writableEnded) return false;
  const body = httpErrorBody(httpError);
  const headers = {
    ...fixedHeaders,
    ...httpErrorHeaders(httpError),
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${httpError.status} ${STATUS_CODES[httpError.status]}\r\n${lines.join('')}\r\n${body}`,
  );
  lingeringClose(socket);
  return true;
}

// How long a client may take to read an answer that it got before it had sent everything.
const lingerMs = 1_000;

/**
 * Ends a connection whose client may still be sending. Closed at once, the bytes that nobody reads would make the system
 * reset it, and the client would lose the answer with it.
 */
export function lingeringClose(socket: Duplex): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), lingerMs);
  late.unref();
  socket.once('close', () => clearTimeout(late));
}

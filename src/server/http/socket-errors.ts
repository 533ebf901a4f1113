import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { badRequest, errorContent, type HttpError, rejection } from './http-error.ts';
import { fixedHeaders } from './response-headers.ts';

/** The error for a request that Node's HTTP parser rejected, by the code of the parser's error. */
export function parserError(code: string | undefined): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const error = rejection(408, 'REQUEST_TIMEOUT', 'The request arrived too slowly. Send it again.');
    return { ...error, retryable: true };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The headers exceed the limit of 16384 bytes. Send fewer or shorter headers.';
    return rejection(431, 'REQUEST_TOO_LARGE', message);
  }
  return badRequest('The request is not valid HTTP.');
}

/**
 * Writes an error response to a socket that has no request object, and closes the connection.
 * @returns whether the response was written.
 */
export function writeErrorToSocket(socket: Duplex, httpError: HttpError, requestId: string): boolean {
  // A response has ended this socket already, or the client has disconnected.
  if (!socket.writable || socket.writableEnded) return false;
  const { body, headers } = errorContent(httpError);
  const lines = Object.entries({
    ...fixedHeaders,
    ...headers,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${httpError.status} ${STATUS_CODES[httpError.status]}\r\n${lines.join('')}\r\n${body}`,
  );
  lingeringClose(socket);
  return true;
}

// The time a client has to read a response that it got before it sent its whole request.
const lingerMs = 1_000;

/**
 * Closes a connection whose client may still be sending. If the socket closed at once, unread bytes would cause a TCP
 * reset, and the client would lose the response.
 */
export function lingeringClose(socket: Duplex): void {
  socket.end(() => setTimeout(() => socket.destroy(), lingerMs).unref());
}

/** Reads nothing more from a client, and lets the client read the rest of the response before the connection closes. */
export function stopReading(socket: Socket): void {
  socket.pause();
  // Node resumes the socket when a request ends.
  socket.resume = () => socket;
  socket.destroySoon = () => lingeringClose(socket);
}

import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultEffect, ReplacingFault } from './faults.ts';

/** How long written bytes may take to reach the client before the connection closes. */
const flushMs = 20;

/** Whether the fault replaces the response. The sandbox then does not apply the request. */
export function replacesResponse(fault: FaultEffect | undefined): fault is ReplacingFault {
  return fault?.kind === 'status' || fault?.kind === 'hang' || fault?.kind === 'reset';
}

/** Sends the replacement of the response, or no response. */
export function sendReplacement(fault: ReplacingFault, request: FastifyRequest, reply: FastifyReply): void {
  if (fault.kind !== 'status') {
    reply.hijack();
    if (fault.kind === 'reset') request.raw.socket.resetAndDestroy();
    return;
  }
  const { status, body, contentType, headers = {} } = fault;
  reply.code(status).headers(headers);
  if (body === undefined) {
    reply.send();
    return;
  }
  const isText = typeof body === 'string';
  reply.type(contentType ?? (isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'));
  reply.send(Buffer.from(isText ? body : JSON.stringify(body)));
}

/**
 * Changes the payload of a finished response, or the way in which it is sent.
 * @param closing aborted when the sandbox closes; ends slow responses
 */
export function alterResponse(
  fault: FaultEffect | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  closing: AbortSignal,
): unknown {
  if (fault === undefined || replacesResponse(fault)) return payload;
  const response = toBytes(payload);
  const { socket } = request.raw;
  switch (fault.kind) {
    case 'delay':
    case 'quirks':
      return payload;
    case 'change':
      return JSON.stringify(fault.change(JSON.parse(response.toString())));
    case 'content-type':
      reply.type(fault.contentType);
      return response;
    case 'cut-json':
      return response.subarray(0, fault.bytes ?? response.length >> 1);
    case 'applied-then-cut':
      socket.resetAndDestroy();
      return payload;
    case 'short':
      reply.header('content-length', response.length + (fault.missingBytes ?? 1));
      return Readable.from(sendThenDisconnect(response, () => socket.end()));
    case 'reset-in-body':
      reply.header('content-length', response.length);
      return Readable.from(
        sendThenDisconnect(response.subarray(0, fault.bytes ?? response.length >> 1), () =>
          socket.resetAndDestroy(),
        ),
      );
    case 'drip':
      reply.header('content-length', response.length);
      return Readable.from(chunksWithDelay(response, fault.bytes, fault.everyMs, closing));
  }
}

function toBytes(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  if (payload instanceof Uint8Array) return Buffer.from(payload);
  if (typeof payload === 'string') return Buffer.from(payload);
  if (payload === null || payload === undefined) return Buffer.alloc(0);
  throw new TypeError('The sandbox can only change text and bytes');
}

async function* sendThenDisconnect(bytes: Buffer, disconnect: () => void): AsyncGenerator<Buffer> {
  yield bytes;
  await sleep(flushMs);
  disconnect();
  // Keep the stream open until the connection is closed. Otherwise the response would end regularly.
  await sleep(flushMs);
}

async function* chunksWithDelay(
  response: Buffer,
  bytes: number,
  everyMs: number,
  closing: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let start = 0; start < response.length; start += bytes) {
    await sleep(everyMs, undefined, { signal: closing });
    yield response.subarray(start, start + bytes);
  }
}

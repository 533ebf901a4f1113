import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultEffect, InsteadOfAnswer } from './faults.ts';

/** Long enough for what was written to reach the other side before the connection goes. */
const flushMs = 20;

/** Whether the fault stands in place of the answer, so that the request stays undone. */
export function isInsteadOfAnswer(fault: FaultEffect | undefined): fault is InsteadOfAnswer {
  return fault?.kind === 'status' || fault?.kind === 'hang' || fault?.kind === 'reset';
}

/** Gives what the fault has in place of an answer. */
export function answerInstead(fault: InsteadOfAnswer, request: FastifyRequest, reply: FastifyReply): void {
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

/** What of the finished answer is sent, and how. `closing` ends what would take long. */
export function spoil(
  fault: FaultEffect | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  closing: AbortSignal,
): unknown {
  if (fault === undefined || isInsteadOfAnswer(fault)) return payload;
  const answer = bytesOf(payload);
  const { socket } = request.raw;
  switch (fault.kind) {
    case 'delay':
    case 'quirks':
      return payload;
    case 'change':
      return JSON.stringify(fault.change(JSON.parse(answer.toString())));
    case 'content-type':
      reply.type(fault.contentType);
      return answer;
    case 'cut-json':
      return answer.subarray(0, fault.bytes ?? answer.length >> 1);
    case 'applied-then-cut':
      socket.resetAndDestroy();
      return payload;
    case 'short':
      reply.header('content-length', answer.length + (fault.missingBytes ?? 1));
      return Readable.from(thenLeave(answer, () => socket.end()));
    case 'reset-in-body':
      reply.header('content-length', answer.length);
      return Readable.from(
        thenLeave(answer.subarray(0, fault.bytes ?? answer.length >> 1), () => socket.resetAndDestroy()),
      );
    case 'drip':
      reply.header('content-length', answer.length);
      return Readable.from(drops(answer, fault.bytes, fault.everyMs, closing));
  }
}

function bytesOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  if (payload instanceof Uint8Array) return Buffer.from(payload);
  if (typeof payload === 'string') return Buffer.from(payload);
  if (payload === null || payload === undefined) return Buffer.alloc(0);
  throw new TypeError('The sandbox can spoil text and bytes alone');
}

async function* thenLeave(bytes: Buffer, leave: () => void): AsyncGenerator<Buffer> {
  yield bytes;
  await sleep(flushMs);
  leave();
  // The stream must not end before the connection does, or the answer would end with it.
  await sleep(flushMs);
}

async function* drops(
  answer: Buffer,
  bytes: number,
  everyMs: number,
  closing: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let start = 0; start < answer.length; start += bytes) {
    await sleep(everyMs, undefined, { signal: closing });
    yield answer.subarray(start, start + bytes);
  }
}

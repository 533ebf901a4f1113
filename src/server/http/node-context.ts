import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import { countError, type RequestRecord } from '../../telemetry/request-record.ts';
import { errorContent, type HttpError } from './http-error.ts';
import type { ParsedBody } from './request-body.ts';
import { lingeringClose } from './socket-errors.ts';

/** The context of a request: Node's request and response, and the steps that are already done. */
export interface NodeContext {
  req: IncomingMessage;
  res: ServerResponse;
  requestRecord?: RequestRecord;
  parsed?: ParsedBody | undefined;
  /** The result of the operation, if the fast path has run or refused it. */
  result?: Promise<ExecutionResult> | undefined;
}

/** The response for an HTTP error. If the response closes the connection, the client gets time to read it first. */
export function httpErrorResponse(
  httpError: HttpError,
  { res, requestRecord }: NodeContext,
  { Response }: Pick<FetchAPI, 'Response'>,
): Response {
  if (requestRecord !== undefined) countError(requestRecord, httpError.code);
  if (httpError.headers?.connection === 'close') {
    const { socket } = res.req;
    res.shouldKeepAlive = false;
    // Node calls this method when the response is complete.
    socket.destroySoon = () => lingeringClose(socket);
  }
  const { body, headers } = errorContent(httpError);
  return new Response(body, { status: httpError.status, headers });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import { countError, type RequestRecord } from '../../telemetry/request-record.ts';
import { errorContent, type HttpError } from '../http/http-error.ts';
import type { ParsedBody } from '../http/request-body.ts';
import { lingeringClose } from '../http/socket-errors.ts';

/** The context of a request: Node's request and response, and the steps that are already done. */
export interface YogaContext {
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
  { res, requestRecord }: YogaContext,
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

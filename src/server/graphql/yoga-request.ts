import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { FetchAPI, GraphQLParams, Plugin } from 'graphql-yoga';
import { countError, type RequestRecordContext } from '../../telemetry/request-record.ts';
import { type HttpError, httpErrorBody, httpErrorHeaders } from '../http/http-error.ts';
import { responseTypeFor } from '../http/media-types.ts';
import {
  type BodyBudget,
  type BodyReadResult,
  type ParsedBody,
  parseBody,
  parseText,
  readBody,
} from '../http/request-body.ts';
import { bodyTooLarge, checkAuthorization, checkRequestHead } from '../http/request-checks.ts';
import { lingeringClose } from '../http/socket-errors.ts';
import type { Admission } from './admission.ts';

/** The context of a request from Node's HTTP server. Empty if the application is called by `fetch`. */
export interface NodeContext extends RequestRecordContext {
  req?: IncomingMessage;
  res?: ServerResponse;
  /** The body, if the fast path has read it. */
  body?: BodyReadResult | undefined;
  /** The parsed body, if the fast path has parsed it. */
  parsed?: ParsedBody | undefined;
  /** The result of the operation, if the fast path has run or refused it. */
  result?: Promise<ExecutionResult> | undefined;
}

/** How request bodies are read, and when requests are refused. */
export interface RequestBodyOptions {
  maxBodyBytes: number;
  budget: BodyBudget;
  admission: Pick<Admission, 'overloadError'>;
}

/**
 * Yoga plugin: rejects invalid request heads, and reads and parses bodies. A request counts only when its operation is
 * admitted, so that slow uploads occupy no capacity.
 */
export function readYogaRequest(options: RequestBodyOptions): Plugin<object, NodeContext> {
  const { maxBodyBytes, admission } = options;
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      const { req } = serverContext;
      const { method, headers } = request;
      // Yoga responds to all other methods.
      if (method !== 'POST' && method !== 'GET') return;
      const httpError =
        (req && checkAuthorization(req.rawHeaders)) ??
        checkRequestHead(method, headers, maxBodyBytes) ??
        // Before the body is read: the bodies of shed requests are not read.
        admission.overloadError();
      // Yoga does not read weights, by which a client refuses a type.
      headers.set('accept', responseTypeFor(headers.get('accept')) ?? '');
      if (httpError !== undefined) {
        endResponse(httpErrorResponse(httpError, serverContext, fetchAPI));
      } else if (method === 'POST') {
        setRequestParser(async () => {
          const parsed = await readParameters(request, serverContext, options);
          // Yoga validates the parameters.
          if ('json' in parsed) return parsed.json as GraphQLParams;
          return httpErrorResponse(parsed.httpError, serverContext, fetchAPI);
        });
      } else if (requestParser !== undefined) {
        setRequestParser((input) => parseUrlParameters(() => requestParser(input)));
      }
    },
  };
}

async function readParameters(
  request: Request,
  { req, res, body: receivedBody, parsed }: NodeContext,
  { maxBodyBytes, budget }: RequestBodyOptions,
): Promise<ParsedBody> {
  if (req === undefined) {
    const text = await request.text();
    return Buffer.byteLength(text) > maxBodyBytes
      ? { httpError: bodyTooLarge(maxBodyBytes) }
      : parseText(text);
  }
  if (receivedBody === undefined && req.headers.expect !== undefined) res?.writeContinue();
  const body = receivedBody ?? (await readBody(req, maxBodyBytes, budget));
  if (!Buffer.isBuffer(body)) return { httpError: body };
  return parsed ?? parseBody(body);
}

async function parseUrlParameters<Parameters>(parse: () => Parameters): Promise<Awaited<Parameters>> {
  try {
    return await parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new GraphQLError('The parameters "variables" and "extensions" must be JSON.', {
      extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
    });
  }
}

/** The response for an HTTP error. If the response closes the connection, the client gets time to read it first. */
export function httpErrorResponse(
  httpError: HttpError,
  { req, res, requestRecord }: NodeContext,
  { Response }: Pick<FetchAPI, 'Response'>,
): Response {
  if (requestRecord !== undefined) countError(requestRecord, httpError.code);
  if (req !== undefined && httpError.headers?.connection === 'close') {
    const { socket } = req;
    if (res !== undefined) res.shouldKeepAlive = false;
    socket.destroySoon = () => lingeringClose(socket);
  }
  return new Response(httpErrorBody(httpError), {
    status: httpError.status,
    headers: httpErrorHeaders(httpError),
  });
}

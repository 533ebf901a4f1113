import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { FetchAPI, GraphQLParams, Plugin } from 'graphql-yoga';
import { countError, type RequestRecordContext } from '../../telemetry/request-record.ts';
import { lingeringClose } from '../http/connection-errors.ts';
import { type HttpError, httpErrorBody, httpErrorHeaders } from '../http/http-error.ts';
import type { LoadShedder } from '../http/load-shedding.ts';
import type { BodyBudget } from '../http/request-body.ts';
import { type BodyParsed, type BodyRead, parseBody, parseText, readBody } from '../http/request-body.ts';
import { authorizationError, bodyTooLarge, requestHeadError } from '../http/request-checks.ts';

/** What Node's server hands over with a request; nothing where the application is called by `fetch`. */
export interface NodeContext extends RequestRecordContext {
  req?: IncomingMessage;
  res?: ServerResponse;
  /** What came of reading the body, where that is done already. */
  body?: BodyRead | undefined;
  /** What the body has been parsed to, where that is done already too. */
  parsed?: BodyParsed | undefined;
  /** Whether it is among the requests under way already. */
  isAdmitted?: boolean;
}

export interface YogaRequestOptions {
  maxBodyBytes: number;
  budget: BodyBudget;
  loadShedding: LoadShedder;
}

/**
 * Refuses what is no GraphQL request by its head, and reads the body of what is. A request is under way from when it is
 * here whole, so that whoever sends slowly takes nobody's place.
 */
export function readYogaRequest(options: YogaRequestOptions): Plugin<object, NodeContext> {
  const { maxBodyBytes, loadShedding } = options;
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      const { req, res } = serverContext;
      const { method, headers } = request;
      // Yoga answers all other methods.
      if (method !== 'POST' && method !== 'GET') return;
      const httpError =
        (req && authorizationError(req.rawHeaders)) ??
        requestHeadError(method, headers, maxBodyBytes) ??
        (method === 'GET'
          ? loadShedding.admit('graphql', res)
          : errorBeforeBody(serverContext, loadShedding));
      if (httpError !== undefined) {
        endResponse(httpErrorResponse(httpError, serverContext, fetchAPI));
      } else if (method === 'POST') {
        setRequestParser(async () => {
          const parsed = await readParameters(request, serverContext, options);
          // Yoga looks at what is in it.
          if ('json' in parsed) return parsed.json as GraphQLParams;
          return httpErrorResponse(parsed.httpError, serverContext, fetchAPI);
        });
      } else if (requestParser !== undefined) {
        setRequestParser((input) => parseUrlParameters(() => requestParser(input)));
      }
    },
  };
}

/** Before its body is read, so that none is read in vain. */
function errorBeforeBody({ isAdmitted }: NodeContext, loadShedding: LoadShedder): HttpError | undefined {
  return isAdmitted === true ? undefined : loadShedding.httpError('graphql');
}

async function readParameters(
  request: Request,
  { req, res, body: receivedBody, parsed, isAdmitted = false }: NodeContext,
  { maxBodyBytes, budget, loadShedding }: YogaRequestOptions,
): Promise<BodyParsed> {
  if (req === undefined) {
    const text = await request.text();
    const bytes = Buffer.byteLength(text);
    return bytes > maxBodyBytes
      ? { httpError: bodyTooLarge(maxBodyBytes, `${bytes} bytes`) }
      : parseText(text);
  }
  if (receivedBody === undefined && req.headers.expect !== undefined) res?.writeContinue();
  const body = receivedBody ?? (await readBody(req, maxBodyBytes, budget));
  if (!Buffer.isBuffer(body)) return { httpError: body };
  const httpError = isAdmitted ? undefined : loadShedding.admit('graphql', res);
  return httpError === undefined ? (parsed ?? parseBody(body)) : { httpError };
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

/** The answer to a request that is refused. One that ends the connection lets the client read it first. */
export function httpErrorResponse(
  httpError: HttpError,
  { req, requestRecord }: NodeContext,
  { Response }: Pick<FetchAPI, 'Response'>,
): Response {
  if (requestRecord !== undefined) countError(requestRecord, httpError.code);
  if (req !== undefined && httpError.headers?.connection === 'close') {
    const { socket } = req;
    socket.destroySoon = () => lingeringClose(socket);
  }
  return new Response(httpErrorBody(httpError), {
    status: httpError.status,
    headers: httpErrorHeaders(httpError),
  });
}

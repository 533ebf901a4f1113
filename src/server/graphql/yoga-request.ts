import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { FetchAPI, GraphQLParams, Plugin } from 'graphql-yoga';
import { countError, type ExchangeContext } from '../../telemetry/request-record.ts';
import { endLingering } from '../http/connection-errors.ts';
import { type Refusal, refusalBody, refusalHeaders } from '../http/http-error.ts';
import type { Admission } from '../http/load-shedding.ts';
import type { BodyBudget } from '../http/request-body.ts';
import { type BodyParsed, type BodyRead, parseBody, parseText, readBody } from '../http/request-body.ts';
import { authorizationRefusal, bodyTooLarge, formRefusal } from '../http/request-checks.ts';

/** What Node's server hands over with a request; nothing where the application is called by `fetch`. */
export interface NodeContext extends ExchangeContext {
  req?: IncomingMessage;
  res?: ServerResponse;
  /** What came of reading the body, where that is done already. */
  body?: BodyRead | undefined;
  /** What the body has been parsed to, where that is done already too. */
  parsed?: BodyParsed | undefined;
  /** Whether it is among the requests under way already. */
  isAdmitted?: boolean;
}

export interface RequestReadingOptions {
  maxBodyBytes: number;
  budget: BodyBudget;
  admission: Admission;
}

/**
 * Refuses what is no GraphQL request by its head, and reads the body of what is. A request is under way from when it is
 * here whole, so that whoever sends slowly takes nobody's place.
 */
export function requestReading(options: RequestReadingOptions): Plugin<object, NodeContext> {
  const { maxBodyBytes, admission } = options;
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      const { req, res } = serverContext;
      const { method, headers } = request;
      // Yoga answers all other methods.
      if (method !== 'POST' && method !== 'GET') return;
      const refused =
        (req && authorizationRefusal(req.rawHeaders)) ??
        formRefusal(method, headers, maxBodyBytes) ??
        (method === 'GET' ? admission.admit('graphql', res) : refusalAhead(serverContext, admission));
      if (refused !== undefined) {
        endResponse(refusalResponse(refused, serverContext, fetchAPI));
      } else if (method === 'POST') {
        setRequestParser(async () => {
          const parsed = await parametersOf(request, serverContext, options);
          // Yoga looks at what is in it.
          if ('json' in parsed) return parsed.json as GraphQLParams;
          return refusalResponse(parsed.refusal, serverContext, fetchAPI);
        });
      } else if (requestParser !== undefined) {
        setRequestParser((given) => parametersOfUrl(() => requestParser(given)));
      }
    },
  };
}

/** Before its body is read, so that none is read in vain. */
function refusalAhead({ isAdmitted }: NodeContext, admission: Admission): Refusal | undefined {
  return isAdmitted === true ? undefined : admission.refusal('graphql');
}

async function parametersOf(
  request: Request,
  { req, res, body: read, parsed, isAdmitted = false }: NodeContext,
  { maxBodyBytes, budget, admission }: RequestReadingOptions,
): Promise<BodyParsed> {
  if (req === undefined) {
    const text = await request.text();
    const bytes = Buffer.byteLength(text);
    return bytes > maxBodyBytes ? { refusal: bodyTooLarge(maxBodyBytes, `${bytes} bytes`) } : parseText(text);
  }
  if (read === undefined && req.headers.expect !== undefined) res?.writeContinue();
  const body = read ?? (await readBody(req, maxBodyBytes, budget));
  if (!Buffer.isBuffer(body)) return { refusal: body };
  const refusal = isAdmitted ? undefined : admission.admit('graphql', res);
  return refusal === undefined ? (parsed ?? parseBody(body)) : { refusal };
}

async function parametersOfUrl<Parameters>(parse: () => Parameters): Promise<Awaited<Parameters>> {
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
export function refusalResponse(
  refusal: Refusal,
  { req, exchange }: NodeContext,
  { Response }: Pick<FetchAPI, 'Response'>,
): Response {
  if (exchange !== undefined) countError(exchange, refusal.code);
  if (req !== undefined && refusal.headers?.connection === 'close') {
    const { socket } = req;
    socket.destroySoon = () => endLingering(socket);
  }
  return new Response(refusalBody(refusal), { status: refusal.status, headers: refusalHeaders(refusal) });
}

import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { responseType } from '../http/content-negotiation.ts';
import { type BodyBudget, type ParsedBody, parseBody, readBody } from '../http/request-body.ts';
import type { Admission } from '../operations/admission.ts';
import { httpErrorResponse, type YogaContext } from './yoga-context.ts';
import { checkRequestHead } from './yoga-request-head.ts';

export interface RequestBodyOptions {
  maxBodyBytes: number;
  budget: BodyBudget;
  admission: Pick<Admission, 'overloadError'>;
}

/**
 * Yoga plugin: rejects invalid request heads, and reads and parses bodies. A request counts only when its operation is
 * admitted, so that slow uploads occupy no capacity.
 */
export function yogaRequest(options: RequestBodyOptions): Plugin<object, YogaContext> {
  const { maxBodyBytes, admission } = options;
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      const { method, headers } = request;
      if (method !== 'POST' && method !== 'GET') return;
      const httpError =
        checkRequestHead(method, headers, maxBodyBytes) ??
        // Before the body is read: the bodies of shed requests are not read.
        admission.overloadError();
      // Yoga does not read weights, by which a client refuses a type.
      headers.set('accept', responseType(headers.get('accept')) ?? 'application/json');
      if (httpError !== undefined) {
        endResponse(httpErrorResponse(httpError, serverContext, fetchAPI));
      } else if (method === 'POST') {
        setRequestParser(async () => {
          const parsed = await readParameters(serverContext, options);
          // Yoga validates the parameters.
          if ('json' in parsed) return parsed.json as GraphQLParams;
          return httpErrorResponse(parsed.httpError, serverContext, fetchAPI);
        });
      } else if (requestParser !== undefined) {
        setRequestParser((input) => Promise.try(requestParser, input).catch(explainSyntaxError));
      }
    },
  };
}

async function readParameters(
  { req, res, parsed }: YogaContext,
  { maxBodyBytes, budget }: RequestBodyOptions,
): Promise<ParsedBody> {
  if (parsed !== undefined) return parsed;
  if (req.headers.expect !== undefined) res.writeContinue();
  const body = await readBody(req, maxBodyBytes, budget);
  return Buffer.isBuffer(body) ? parseBody(body) : { httpError: body };
}

/** Explains an error of the parameters in a URL. */
function explainSyntaxError(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  const extensions = { code: 'BAD_REQUEST', http: { status: 400 } };
  throw new GraphQLError('The parameters "variables" and "extensions" must be JSON.', { extensions });
}

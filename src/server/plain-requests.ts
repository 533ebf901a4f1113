import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Documents } from './documents/documents.ts';
import type { PersistedOperations } from './documents/persisted.ts';
import { parseBody, readBody } from './http/body.ts';
import type { HeaderReader } from './http/cors.ts';
import { plainAnswerType } from './http/plain-form.ts';
import { parametersIn } from './http/plain-parameters.ts';
import type { NodeContext, RequestReadingOptions } from './http/request-reading.ts';
import type { ResponseHeaders } from './http/response-headers.ts';
import type { Exchange } from './log/exchange.ts';
import type { RequestLog } from './log/request-log.ts';
import type { CompiledQueries, CompiledQuery } from './operation/compiled-queries.ts';
import type { MaskedErrors } from './operation/masked-errors.ts';
import type { Asking, Operation } from './operation/operation.ts';
import type { Running } from './operation/running.ts';

/** Answers any request. `context` says what has been done of it already. */
export type General = (request: IncomingMessage, response: ServerResponse, context: NodeContext) => void;

export interface PlainRequestsOptions extends RequestReadingOptions {
  requestLog: RequestLog;
  responseHeaders: ResponseHeaders;
  maskedErrors: MaskedErrors;
  operations: PersistedOperations;
  documents: Documents;
  compiledQueries: CompiledQueries;
  running: Running;
}

/**
 * The short way of what is asked most: a plain POST of a query that is compiled, on Node's own request and response. All
 * that it says itself is an answer with data. Whatever else there is to say, every refusal above all, is for `general`, to
 * which the request goes with what has been done of it: nothing of its operation has run then.
 */
export function plainRequests(options: PlainRequestsOptions, general: General): RequestListener {
  const { maxBodyBytes, budget, admission, requestLog, maskedErrors, running } = options;
  const fixedHeaders = options.responseHeaders.fixed.flat();
  const bodies = new WeakMap<ExecutionResult, Buffer>();

  /** Those who got the answer to an equal query all send the same bytes. */
  function bodyOf(result: ExecutionResult, isShared: boolean): string | Buffer {
    if (!isShared) return JSON.stringify(result);
    let body = bodies.get(result);
    if (body === undefined) {
      body = Buffer.from(JSON.stringify(result));
      bodies.set(result, body);
    }
    return body;
  }

  /** Answers a request whose query runs, and says whether it did. `context` tells how far it has come. */
  async function isAnswered(
    request: IncomingMessage,
    response: ServerResponse,
    type: string,
    context: NodeContext & { exchange: Exchange },
  ): Promise<boolean> {
    const { exchange } = context;
    context.body = await readBody(request, maxBodyBytes, budget);
    const query = Buffer.isBuffer(context.body) ? queryIn(context.body, options) : undefined;
    if (query === undefined) return false;

    if (admission.admit('graphql', response) !== undefined) return false;
    context.isAdmitted = true;
    const asking = askingOf(request, response, exchange);
    const begun = running.begin(query.operation, asking);
    if ('refusal' in begun) return false;
    const run = query.compiled(query.operation.variables);
    if (run === undefined) return false;
    const result = resultToTell(await begun.run(() => run(begun.context)), maskedErrors);

    requestLog.noteResult(exchange, result);
    const body = bodyOf(result, exchange.joined);
    requestLog.answered(exchange, asking.headers, 200, response.destroyed);
    if (response.destroyed) return true;
    response.writeHead(200, [
      ...fixedHeaders,
      'content-type',
      type,
      'content-length',
      String(Buffer.byteLength(body)),
      'x-request-id',
      exchange.requestId,
      ...options.responseHeaders.forOrigin(request.headers.origin ?? null).flat(),
    ]);
    response.end(body);
    return true;
  }

  async function answer(request: IncomingMessage, response: ServerResponse, type: string): Promise<void> {
    const context = { exchange: requestLog.begin(request.headers['x-request-id']) };
    context.exchange.route = 'graphql';
    // What goes wrong here goes wrong there too, where it is told and reported.
    const isDone = await isAnswered(request, response, type, context).catch(() => response.headersSent);
    if (!isDone) general(request, response, context);
  }

  return (request, response) => {
    const type = plainAnswerType(request, maxBodyBytes);
    if (type === undefined || admission.refusal('graphql') !== undefined) general(request, response, {});
    else void answer(request, response, type);
  };
}

interface QueryAsked {
  operation: Operation;
  compiled: CompiledQuery;
}

/** The query that a body asks for; undefined where it is not compiled, or something may be wrong with what was sent. */
function queryIn(
  body: Buffer,
  { operations, documents, compiledQueries }: PlainRequestsOptions,
): QueryAsked | undefined {
  const parsed = parseBody(body);
  const parameters = 'json' in parsed ? parametersIn(parsed.json) : undefined;
  if (parameters === undefined) return undefined;
  const found = operations.textOf(parameters);
  if ('refusal' in found || found.text === undefined) return undefined;
  const known = documents.known(found.text);
  if (known?.document === undefined || known.errors.length > 0) return undefined;
  const { document } = known;
  const definition = getOperationAST(document, parameters.operationName);
  if (definition === null || definition === undefined) return undefined;
  const operation = { document, definition, variables: parameters.variables ?? undefined };
  const compiled = compiledQueries.of(operation);
  return compiled && { operation, compiled };
}

function askingOf({ headers }: IncomingMessage, response: ServerResponse, exchange: Exchange): Asking {
  return {
    headers: readerOf(headers),
    exchange,
    whenGone(listener) {
      if (response.closed) listener(gone);
      response.once('close', () => {
        if (!response.writableFinished) listener(gone);
      });
    },
  };
}

const gone = new Error('The client has gone');

function readerOf(headers: IncomingHttpHeaders): HeaderReader {
  return {
    get(name) {
      const value = headers[name];
      return typeof value === 'string' ? value : null;
    },
  };
}

function resultToTell(result: ExecutionResult, { mask }: MaskedErrors): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(mask) };
}

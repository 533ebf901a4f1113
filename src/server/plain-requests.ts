import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { createRounds, largestPutOff } from '../rest/rounds.ts';
import { type BodyParsed, type BodyRead, parseBody, receiveBody } from './http/body.ts';
import type { HeaderReader } from './http/cors.ts';
import { plainAnswerType } from './http/plain-form.ts';
import type { NodeContext, RequestReadingOptions } from './http/request-reading.ts';
import type { ResponseHeaders } from './http/response-headers.ts';
import type { Exchange } from './log/exchange.ts';
import type { RequestLog } from './log/request-log.ts';
import type { MaskedErrors } from './operation/masked-errors.ts';
import type { Asking } from './operation/operation.ts';
import type { Running } from './operation/running.ts';
import { type KnownQueries, queryIn } from './plain-query.ts';

/** Answers any request. `context` says what has been done of it already. */
export type General = (request: IncomingMessage, response: ServerResponse, context: NodeContext) => void;

export interface PlainRequestsOptions extends RequestReadingOptions, KnownQueries {
  requestLog: RequestLog;
  responseHeaders: ResponseHeaders;
  maskedErrors: MaskedErrors;
  running: Running;
}

/**
 * The short way of what is asked most: a plain POST of a query that is compiled, on Node's own request and response. All
 * that it says itself is an answer with data. Whatever else there is to say, every refusal above all, is for `general`, to
 * which the request goes with what has been done of it: nothing of its operation has run then.
 */
export function plainRequests(options: PlainRequestsOptions, general: General): RequestListener {
  const { maxBodyBytes, budget, admission, responseHeaders } = options;
  const parts: Parts = {
    ...options,
    general,
    head: new AnswerHead(responseHeaders.fixed),
    bodies: new WeakMap(),
  };
  const putOff = createRounds();
  return (request, response) => {
    const type = plainAnswerType(request, maxBodyBytes);
    if (type === undefined || admission.refusal('graphql') !== undefined) {
      general(request, response, {});
      return;
    }
    const plain = new PlainRequest(parts, request, response, type);
    receiveBody(request, maxBodyBytes, budget, (body) => {
      if (Buffer.isBuffer(body) && body.length <= largestPutOff) putOff(() => plain.run(body));
      else plain.run(body);
    });
  };
}

/** What is the same for all of them. */
interface Parts extends PlainRequestsOptions {
  general: General;
  head: AnswerHead;
  /** Those who got the answer to an equal query all send the same bytes. */
  bodies: WeakMap<ExecutionResult, Buffer>;
}

/** A request on the short way. One object and few promises, as those cost more than all that is done. */
class PlainRequest implements Asking {
  readonly exchange: Exchange;
  readonly headers: HeaderReader;
  readonly #parts: Parts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** The media type of its answer. */
  readonly #type: string;
  #body: BodyRead | undefined;
  #parsed: BodyParsed | undefined;
  #isAdmitted = false;

  constructor(parts: Parts, request: IncomingMessage, response: ServerResponse, type: string) {
    this.#parts = parts;
    this.#request = request;
    this.#response = response;
    this.#type = type;
    this.headers = new NodeHeaders(request.headers);
    this.exchange = parts.requestLog.begin(request.headers['x-request-id']);
    this.exchange.route = 'graphql';
  }

  /** Answers it, or has it answered the general way. */
  run(body: BodyRead): void {
    this.#body = body;
    let result: Promise<ExecutionResult> | undefined;
    try {
      result = this.#resultOf(body);
    } catch {
      // Told there, where it goes wrong again.
    }
    if (result === undefined) this.#handOver();
    else
      result.then(
        (known) => this.#tell(known),
        () => this.#handOver(),
      );
  }

  whenGone(listener: (reason: unknown) => void): void {
    const response = this.#response;
    if (response.closed) listener(gone);
    response.on('close', () => {
      if (!response.writableFinished) listener(gone);
    });
  }

  /** Has its query run; undefined where there is something else to say. */
  #resultOf(body: BodyRead): Promise<ExecutionResult> | undefined {
    const { admission, running } = this.#parts;
    if (!Buffer.isBuffer(body)) return undefined;
    this.#parsed = parseBody(body);
    const query = queryIn(this.#parsed, this.#parts);
    if (query === undefined) return undefined;
    if (admission.admit('graphql', this.#response) !== undefined) return undefined;
    this.#isAdmitted = true;
    const begun = running.begin(query.operation, this);
    if ('refusal' in begun) return undefined;
    const run = query.compiled(query.operation.variables);
    return run && begun.run(() => run(begun.context));
  }

  #tell(known: ExecutionResult): void {
    const { exchange } = this;
    const { requestLog, maskedErrors, responseHeaders, head } = this.#parts;
    const response = this.#response;
    try {
      const result = resultToTell(known, maskedErrors);
      requestLog.noteResult(exchange, result);
      const body = this.#bodyOf(result);
      requestLog.answered(exchange, this.headers, 200, response.destroyed);
      if (response.destroyed) return;
      const ownHeaders = head.of(this.#type, Buffer.byteLength(body), exchange.requestId);
      const ofOrigin = responseHeaders.forOrigin(this.#request.headers.origin ?? null);
      response.writeHead(200, ofOrigin.length > 0 ? [...ownHeaders, ...ofOrigin.flat()] : ownHeaders);
      response.end(body);
    } catch {
      this.#handOver();
    }
  }

  #bodyOf(result: ExecutionResult): string | Buffer {
    if (!this.exchange.joined) return JSON.stringify(result);
    const { bodies } = this.#parts;
    let body = bodies.get(result);
    if (body === undefined) {
      body = Buffer.from(JSON.stringify(result));
      bodies.set(result, body);
    }
    return body;
  }

  /** What goes wrong here goes wrong there too, where it is told and reported. */
  #handOver(): void {
    if (this.#response.headersSent) return;
    const { exchange } = this;
    const context = { exchange, body: this.#body, parsed: this.#parsed, isAdmitted: this.#isAdmitted };
    this.#parts.general(this.#request, this.#response, context);
  }
}

/** The headers of an answer, names and values in turn: one list for all, as Node is done with it once it has been given it. */
class AnswerHead {
  readonly #headers: string[];
  /** Where those begin that differ. */
  readonly #from: number;

  constructor(fixed: ResponseHeaders['fixed']) {
    this.#from = 2 * fixed.length;
    this.#headers = [...fixed.flat(), 'content-type', '', 'content-length', '', 'x-request-id', ''];
  }

  /** To be used at once. */
  of(type: string, bytes: number, requestId: string): string[] {
    const headers = this.#headers;
    headers[this.#from + 1] = type;
    headers[this.#from + 3] = String(bytes);
    headers[this.#from + 5] = requestId;
    return headers;
  }
}

class NodeHeaders implements HeaderReader {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const value = this.#headers[name];
    return typeof value === 'string' ? value : null;
  }
}

const gone = new Error('The client has gone');

function resultToTell(result: ExecutionResult, { mask }: MaskedErrors): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(mask) };
}

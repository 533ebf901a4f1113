// The fast path: runs a common POST of a cached and valid document on Node's own request and response. A request that
// fails any step goes to the fallback, Yoga, with the parts that are already done. The fast path writes no HTTP errors
// of its own. Reasons: docs/design/how-a-query-is-executed.md#the-fast-path-beside-yoga.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ExecutionResult, getOperationAST } from 'graphql';
import { isJsonObject } from '../../base/json-object.ts';
import { createDefer, maxDeferredBytes } from '../../concurrency/defer.ts';
import { anonymousOwner } from '../../concurrency/owner.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import type { DocumentCache } from '../documents/document-cache.ts';
import { type DocumentPolicy, findDocument } from '../documents/persisted-queries.ts';
import { compress } from '../http/compression.ts';
import { type ContentCoding, contentCoding, isJson, responseType } from '../http/content-negotiation.ts';
import type { HeaderReader } from '../http/http-types.ts';
import { type BodyReadResult, type ParsedBody, parseBody, receiveBody } from '../http/request-body.ts';
import type { ResponseHeaders } from '../http/response-headers.ts';
import type { UnreadBytes } from '../http/unread-response-bytes.ts';
import { acceptedStream } from '../live/transport.ts';
import { type AccessLog, recordResult } from '../operations/access-log.ts';
import { toClientResult } from '../operations/error-mapping.ts';
import type { OperationRequest } from '../operations/operation-interfaces.ts';
import type { RunOperation } from '../operations/operation-runner.ts';
import type { OperationParameters, RunStream } from './stream-requests.ts';
import type { YogaContext } from './yoga-context.ts';
import type { RequestBodyOptions } from './yoga-request.ts';

export interface FastPathOptions {
  bodies: RequestBodyOptions;
  documentPolicy: DocumentPolicy;
  documents: DocumentCache;
  accessLog: AccessLog;
  responseHeaders: ResponseHeaders;
  unread: UnreadBytes;
  compressResponses: boolean;
  report: ReportError;
  runOperation: RunOperation;
  runStream: RunStream;
  /** `context` has the results of the steps that the fast path has done. */
  fallback(request: IncomingMessage, response: ServerResponse, context: Partial<YogaContext>): void;
}

/** A listener that passes all requests that it cannot complete to the fallback. */
export function createFastPath(options: FastPathOptions): RequestListener {
  const { maxBodyBytes, budget, admission } = options.bodies;
  const defer = createDefer();
  return (request, response) => {
    const { accept } = request.headers;
    const mediaType = responseType(accept);
    const isAcceptable = mediaType !== undefined || acceptedStream(accept) !== undefined;
    const isFast = isAcceptable && hasFastPathHead(request, maxBodyBytes);
    if (!isFast || admission.overloadError() !== undefined) return options.fallback(request, response, {});
    const fastRequest = new FastRequest(options, response, mediaType);
    receiveBody(request, maxBodyBytes, budget, (body) => {
      if (Buffer.isBuffer(body) && body.length <= maxDeferredBytes) defer(() => fastRequest.run(body));
      else fastRequest.run(body);
    });
  };
}

/** Other forms of heads may be valid too: the fallback checks them. */
function hasFastPathHead({ method, url, headers }: IncomingMessage, maxBodyBytes: number): boolean {
  return (
    method === 'POST' &&
    url === '/graphql' &&
    isJson(headers['content-type']) &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined &&
    !(Number(headers['content-length']) > maxBodyBytes)
  );
}

const isString = (value: unknown) => typeof value === 'string';

const isValidParameter: Readonly<Record<string, (value: unknown) => boolean>> = {
  query: isString,
  operationName: (value) => isString(value) && value !== '',
  variables: isJsonObject,
  extensions: isJsonObject,
  documentId: isString,
  id: isString,
};

/** Whether a body has only the parameters of GraphQL over HTTP, each null or of the right type. */
function areParameters(body: object): body is OperationParameters {
  // Parsed JSON has no inherited enumerable properties.
  for (const name in body) {
    if (!Object.hasOwn(isValidParameter, name)) return false;
    const value: unknown = body[name as keyof typeof body]; // A key of the same object.
    if (value !== null && isValidParameter[name]?.(value) !== true) return false;
  }
  return true;
}

const clientGoneError = new Error('The client closed the connection');

/** A request on the fast path. One object and few promises: these allocations are the main cost of the fast path. */
class FastRequest implements OperationRequest, HeaderReader {
  readonly requestRecord: RequestRecord;
  readonly headers: HeaderReader = this;
  readonly response: ServerResponse;
  readonly #options: FastPathOptions;
  /** Undefined if the client accepts only a stream. */
  readonly #mediaType: string | undefined;
  #parsed: ParsedBody | undefined;
  #result: Promise<ExecutionResult> | undefined;

  constructor(options: FastPathOptions, response: ServerResponse, mediaType: string | undefined) {
    this.#options = options;
    this.response = response;
    this.#mediaType = mediaType;
    this.requestRecord = options.accessLog.begin(this.get('x-request-id'));
    this.requestRecord.route = 'graphql';
  }

  get(header: string): string | null {
    const value = this.response.req.headers[header];
    return typeof value === 'string' ? value : null;
  }

  run(body: BodyReadResult): void {
    try {
      this.#parsed = Buffer.isBuffer(body) ? parseBody(body) : { httpError: body };
      const operation = this.#requestedOperation(this.#parsed);
      if (this.#mayStream(operation)) this.#runStream(this.#parsed, operation);
      else if (operation === undefined) this.#fallBack();
      else this.#options.runOperation(operation, this, (result) => this.#respondAfter(result));
    } catch {
      // The operation has not started. The fallback fails in the same way, and reports the error.
      this.#fallBack();
    }
  }

  onAbort(listener: (reason: unknown) => void): void {
    const response = this.response;
    if (response.closed) listener(clientGoneError);
    response.on('close', () => {
      if (!response.writableFinished) listener(clientGoneError);
    });
  }

  /**
   * The operation of a parsed body. Undefined if the document is not cached, or if the request has an error: Yoga then
   * parses the document, and reports the error.
   */
  #requestedOperation(parsed: ParsedBody): Operation | undefined {
    if (!('json' in parsed) || !areParameters(parsed.json)) return undefined;
    const { documentPolicy, documents } = this.#options;
    const { operationName, variables } = parsed.json;
    const text = findDocument(documentPolicy, parsed.json, this.headers);
    if (typeof text !== 'string') return undefined;
    const { document, errors } = documents.cached(text) ?? {};
    if (document === undefined || errors?.length !== 0) return undefined;
    const definition = getOperationAST(document, operationName);
    return definition ? { document, definition, variables: variables ?? undefined } : undefined;
  }

  /** Whether the response may be a stream: `runStream` decides where the operation is not known yet. */
  #mayStream(operation: Operation | undefined): boolean {
    if (this.#mediaType === undefined) return true;
    if (operation !== undefined) return operation.definition.operation === 'subscription';
    const accept = this.get('accept');
    return accept !== 'application/json' && acceptedStream(accept) !== undefined;
  }

  #runStream(parsed: ParsedBody, operation: Operation | undefined): void {
    this.#options.runStream({
      request: this,
      operation,
      parameters: 'json' in parsed && areParameters(parsed.json) ? parsed.json : undefined,
      httpError: 'httpError' in parsed ? parsed.httpError : undefined,
      acceptsJson: this.#mediaType !== undefined,
      fallBack: () => this.#fallBack(),
    });
  }

  #respondAfter(result: Promise<ExecutionResult>): void {
    this.#result = result;
    // The fallback reports an error.
    result.then(
      (result) => this.#respond(result),
      () => this.#fallBack(),
    );
  }

  #respond(result: ExecutionResult): void {
    try {
      // Without data the operation did not run, and the response has a status of its own.
      if (result.data === undefined) this.#fallBack();
      else this.#sendResult(toClientResult(result, this.requestRecord.requestId, this.#options.report));
    } catch {
      this.#fallBack();
    }
  }

  #sendResult(result: ExecutionResult): void {
    const { requestRecord, response } = this;
    const { compressResponses, report } = this.#options;
    recordResult(requestRecord, result);
    const body = JSON.stringify(result);
    const byteLength = Buffer.byteLength(body);
    const mayCompress = compressResponses && !response.destroyed;
    const coding = mayCompress ? contentCoding(byteLength, this.get('accept-encoding')) : undefined;
    if (coding === undefined) {
      this.#send(body, byteLength);
      return;
    }
    this.#countUnread(byteLength);
    compress(body, coding).then(
      (compressed) => this.#send(compressed, compressed.length, coding),
      (error: unknown) => {
        report(error, requestRecord.requestId);
        this.#send(body, byteLength);
      },
    );
  }

  #send(body: string | Buffer, byteLength: number, coding?: ContentCoding): void {
    const { requestRecord, response } = this;
    const { accessLog, responseHeaders } = this.#options;
    try {
      accessLog.finish(requestRecord, this.headers, 200, response.destroyed);
      if (response.destroyed) return;
      const headers = responseHeaders.flatFor(this.headers);
      headers.push('content-type', `${this.#mediaType}; charset=utf-8`, 'content-length', String(byteLength));
      headers.push('x-request-id', requestRecord.requestId);
      if (coding !== undefined) headers.push('content-encoding', coding);
      response.writeHead(200, headers);
      response.end(body);
      // A compressed body counts since it was made.
      if (coding === undefined) this.#countUnread(response.writableLength);
      // A client may take the response slowly, and the result can be ten times as large.
      this.#result = undefined;
    } catch {
      this.#fallBack();
    }
  }

  #countUnread(bytes: number): void {
    const { requestRecord, response } = this;
    this.#options.unread.add(
      requestRecord.callContext?.owner ?? anonymousOwner(response.req.socket),
      response,
      bytes,
    );
  }

  #fallBack(): void {
    const { response } = this;
    if (response.headersSent) return;
    this.#options.fallback(response.req, response, {
      requestRecord: this.requestRecord,
      parsed: this.#parsed,
      result: this.#result,
    });
  }
}

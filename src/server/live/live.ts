import { hash } from 'node:crypto';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { Owner } from '../../concurrency/owner.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { LiveMetrics } from '../../telemetry/live-metrics.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import { badRequest, type HttpError, overloaded, rejection } from '../http/http-error.ts';
import type { HeaderReader } from '../http/http-types.ts';
import type { ResponseHeaders } from '../http/response-headers.ts';
import type { UnreadBytes } from '../http/unread-response-bytes.ts';
import { type AccessLog, recordResult } from '../operations/access-log.ts';
import { readBearer } from '../operations/bearer.ts';
import { toClientError } from '../operations/client-error.ts';
import { toClientResult } from '../operations/error-mapping.ts';
import type { OperationRequest } from '../operations/operation-interfaces.ts';
import type { RunOperation } from '../operations/operation-runner.ts';
import { refuse } from '../operations/refusal.ts';
import { Answer, waitOf } from './answer.ts';
import type { OpenStreams } from './open-streams.ts';
import { LiveStream } from './stream.ts';
import { streamHeaders, type Transport } from './transport.ts';
import type { Look, LookResult } from './watch.ts';
import type { OperationReader } from './watched-operation.ts';
import { Watches } from './watches.ts';

export interface LiveOptions {
  /** The shortest time between two looks, in milliseconds. */
  intervalMs: number;
  operations: OperationReader;
  streams: OpenStreams;
  toTenant: (bearer: string) => Tenant;
  toOwner: (headers: HeaderReader, connection: object) => Owner;
  runOperation: RunOperation;
  unread: UnreadBytes;
  responseHeaders: ResponseHeaders;
  accessLog: AccessLog;
  metrics: LiveMetrics | undefined;
  report: ReportError;
}

/** A request for a stream, with its record. */
export interface StreamRequest extends OperationRequest {
  readonly requestRecord: RequestRecord;
}

export type Live = ReturnType<typeof createLive>;

const clock = { now: () => performance.now(), random: Math.random };

/** The streams of subscriptions: operations that run again while clients watch (docs/design/how-a-stream-is-fed.md). */
export function createLive(options: LiveOptions) {
  const { operations, streams, runOperation, unread, accessLog, metrics, report } = options;
  const watches = new Watches({
    intervalMs: options.intervalMs,
    clock,
    onLook: (outcome) => metrics?.looked(outcome),
  });
  metrics?.showStreams(() => streams.size);

  function headersFor({ headers, requestRecord }: StreamRequest, transport: Transport): string[] {
    const fixed = options.responseHeaders.flatFor(headers);
    return [...fixed, ...streamHeaders(transport), 'x-request-id', requestRecord.requestId];
  }

  /** Responds with one event and the end. Always with status 200: clients of SSE repeat a request with any other. */
  function respondOnce(result: ExecutionResult, request: StreamRequest, transport: Transport): void {
    const { headers, requestRecord, response } = request;
    const clientResult = toClientResult(result, requestRecord.requestId, report);
    recordResult(requestRecord, clientResult);
    accessLog.finish(requestRecord, headers, 200, response.destroyed);
    if (response.destroyed) return;
    const frame = new Answer(clientResult, undefined, 0).frame(transport);
    const body = Buffer.concat([Buffer.from(transport.opening), frame, Buffer.from(transport.completion)]);
    response.writeHead(200, headersFor(request, transport));
    response.end(body);
    unread.add(options.toOwner(headers, response.req.socket), response, body.length);
  }

  /** Responds to an operation that is no subscription, for a client that accepts only a stream. */
  function runOnce(operation: Operation, request: StreamRequest, transport: Transport): void {
    const respond = (result: ExecutionResult) => respondOnce(result, request, transport);
    runOperation(operation, request, (result) => {
      result.then(respond, (error: unknown) => respond(refuse({ status: 500, ...reported(error, request) })));
    });
  }

  function reported(error: unknown, { requestRecord: { requestId } }: StreamRequest) {
    report(error, requestId);
    return { ...toClientError(undefined), requestId };
  }

  /** Opens the stream of a subscription of a valid document, or refuses it. */
  function open(operation: Operation, request: StreamRequest, transport: Transport): void {
    const { headers, requestRecord, response } = request;
    requestRecord.operation = operation.definition;
    let owner = options.toOwner(headers, response.req.socket);
    const bearer = readBearer(headers);
    const text = watchedText(operation, headers);
    const error = typeof text === 'string' ? findError(operation, request, owner, text.length) : text;
    // The text is too long, or the stream has no place, or the token is missing. The first of these is told.
    if (typeof text !== 'string' || error !== undefined || typeof bearer !== 'string') {
      respondOnce(refuse(error ?? { status: 401, ...toClientError(bearer) }), request, transport);
      return;
    }
    if (response.destroyed) {
      accessLog.finish(requestRecord, headers, 200, true);
      return;
    }
    const tenant = options.toTenant(bearer);
    /** REST may accept the token by the first answer. From then on, the stream counts to its token. */
    function currentOwner(): Owner {
      if (owner.connection !== undefined) {
        owner = options.toOwner(headers, response.req.socket);
        streams.setOwner(stream, owner);
      }
      return owner;
    }
    // Leaves the watch, once the stream has joined it.
    let leave: (() => void) | undefined;
    const stream = new LiveStream({
      response,
      transport,
      currentOwner,
      unread,
      onSent: (answer) => metrics?.pushed(clock.now() - answer.startedAtMs),
      onEnd() {
        leave?.();
        streams.remove(stream);
      },
      onClose({ endReason, events, errors }) {
        accessLog.endStream(requestRecord, tenant, {
          transport: transport.name,
          events,
          end: endReason,
          errors,
        });
      },
    });
    stream.open(headersFor(request, transport));
    accessLog.openStream(requestRecord, headers);
    const key = hash('sha256', text, 'base64url');
    leave = watches.join(tenant, key, lookOf(operation, request), stream);
    streams.add(stream, owner, text.length);
  }

  /** Why a subscription gets no stream, found without a call to REST. The first look finds its further limits. */
  function findError(
    operation: Operation,
    { response }: StreamRequest,
    owner: Owner,
    characters: number,
  ): HttpError | undefined {
    const argumentError = operations.checkArguments(operation);
    if (argumentError !== undefined) return { status: 400, ...toClientError(argumentError) };
    // Node tells a response behind another one neither that it may be sent nor that its client has left.
    if (response.socket === null) return pipelinedError;
    const excess = streams.excess(owner, characters);
    return (
      excess &&
      overloaded(`The server is at its limit of ${excess.limit} streams for ${excess.scope}. Retry later.`)
    );
  }

  /** The function that runs an operation once, with the token of the request. */
  function lookOf(operation: Operation, request: StreamRequest): (look: Look) => Promise<LookResult> {
    const { requestId } = request.requestRecord;
    // Copies: a watch outlives the request of its first stream.
    const values = new Map<string, string | null>();
    for (const name of lookHeaders) values.set(name, request.headers.get(name));
    const headers: HeaderReader = { get: (name) => values.get(name) ?? null };
    return async ({ watcher, onAbort }) => {
      const startedAtMs = clock.now();
      try {
        const result = await new Promise<ExecutionResult>((resolve) => {
          const lookRequest = { headers, requestRecord: undefined, response: watcher.response, onAbort };
          runOperation(operation, lookRequest, resolve);
        });
        const waitMs = waitOf(result);
        if (waitMs !== undefined) return waitMs;
        const clientResult = toClientResult(result, requestId, report);
        return new Answer(clientResult, operations.comparable(operation, clientResult.data), startedAtMs);
      } catch (error) {
        // An error of this server, which a query would have too. The next look may have none.
        report(error, requestId);
        const { message, ...extensions } = toClientError(undefined);
        const shown = new GraphQLError(message, { extensions: { ...extensions, requestId } });
        return new Answer({ data: null, errors: [shown] }, null, startedAtMs);
      }
    };
  }

  return { open, respondOnce, runOnce };
}

const tooDeepError = badRequest('The variables are nested too deeply.');

// A stream keeps its document and variables, for an hour at most.
const maxCharacters = 65_536;
const tooLongError = rejection(
  400,
  'GRAPHQL_LIMIT_EXCEEDED',
  `The document and the variables of a subscription may have at most ${maxCharacters} characters together.`,
);

const pipelinedError = badRequest(
  'A subscription cannot be sent on a connection that still waits for an earlier response. Open another connection.',
);

/** The headers that a look reads. */
const lookHeaders = ['authorization', 'x-upstream-cost'];

/** Equal for operations whose responses are equal with one token. An error for a text that a stream may not keep. */
function watchedText(
  { document, definition, variables = {} }: Operation,
  headers: HeaderReader,
): string | HttpError {
  const { name, loc } = definition;
  const parts = [
    document.loc?.source.body ?? loc?.source.body,
    name?.value,
    variables,
    headers.get('x-upstream-cost'),
  ];
  try {
    const text = canonicalJson(parts);
    return text.length > maxCharacters ? tooLongError : text;
  } catch (error) {
    // The stack is used up.
    if (error instanceof RangeError) return tooDeepError;
    throw error;
  }
}

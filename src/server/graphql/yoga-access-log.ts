import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { anonymousOwner } from '../../concurrency/owner.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { UnreadBytes } from '../http/unread-response-bytes.ts';
import { type AccessLog, recordResult } from '../operations/access-log.ts';
import { toClientResult } from '../operations/error-mapping.ts';
import type { YogaContext } from './yoga-context.ts';

/**
 * Yoga plugin: records requests in `accessLog`, returns the request id in the header `x-request-id`, and maps the errors
 * of results for clients. It counts the bytes of responses in `unread`. It must be the first plugin with `onRequest`,
 * because others may end a request early.
 */
export function yogaAccessLog(
  accessLog: AccessLog,
  unread: UnreadBytes,
  report: ReportError,
): Plugin<object, YogaContext> {
  return {
    onRequest({ request, serverContext }) {
      serverContext.requestRecord ??= accessLog.begin(request.headers.get('x-request-id'));
    },
    // Yoga calls this hook for `/graphql` alone, and not for GraphiQL, labels or other routes.
    onRequestParse({ serverContext: { requestRecord } }) {
      if (requestRecord !== undefined) requestRecord.route = 'graphql';
    },
    onResultProcess({ result, setResult, serverContext: { requestRecord } }) {
      // The server has no batches (lists of results) and no subscriptions (streams).
      if (requestRecord === undefined || !('errors' in result)) return;
      const clientResult = toClientResult(result, requestRecord.requestId, report);
      recordResult(requestRecord, clientResult);
      setResult(clientResult.data === undefined ? clientResult : withPlainErrors(clientResult));
    },
    onResponse({ request, response, serverContext }) {
      const { headers, signal } = request;
      // Yoga responds to some requests before it calls `onRequest`.
      const { requestRecord = accessLog.begin(headers.get('x-request-id')) } = serverContext;
      response.headers.set('x-request-id', requestRecord.requestId);
      // Yoga's signal misses a connection that closed before Yoga listened for the close.
      const isAborted = signal.aborted || serverContext.res.destroyed;
      accessLog.finish(requestRecord, headers, response.status, isAborted);
      if (requestRecord.route !== 'graphql') return;
      const { req, res } = serverContext;
      const owner = requestRecord.callContext?.owner ?? anonymousOwner(req.socket);
      unread.add(owner, res, Number(response.headers.get('content-length')));
    },
  };
}

/**
 * Yoga would make a new `GraphQLError` of each error, which takes 48 ms for 2,000 errors. A result without data keeps its
 * errors, because Yoga reads the HTTP status from them.
 */
function withPlainErrors(result: ExecutionResult): ExecutionResult {
  const errors: readonly object[] = (result.errors ?? []).map((error) => error.toJSON());
  return { ...result, errors: errors as readonly GraphQLError[] };
}

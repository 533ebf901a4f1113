import type { IncomingMessage } from 'node:http';
import { getOperationAST } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { type HttpError, rejection } from '../http/http-error.ts';
import type { OperationRequest, Respond } from '../operations/operation-interfaces.ts';
import type { RunOperation } from '../operations/operation-runner.ts';
import { refuse } from '../operations/refusal.ts';
import type { YogaContext } from './yoga-context.ts';

/** The error of a subscription for which no stream can be opened. */
function noStreamError({ method }: IncomingMessage): HttpError {
  if (method === 'GET')
    return rejection(405, 'BAD_REQUEST', 'Send a subscription by POST, with its document in a JSON body.');
  return rejection(
    406,
    'UNSUPPORTED_MEDIA_TYPE',
    'The response to a subscription is a stream. Send the header "accept: text/event-stream", or "accept: ' +
      'multipart/mixed;subscriptionSpec=1.0", and the body as plain JSON to "/graphql".',
  );
}

/** Yoga plugin: runs operations by the same function as the fast path. */
export function yogaExecution(runOperation: RunOperation): Plugin<YogaContext> {
  return {
    onExecute({ args, setExecuteFn }) {
      const { document, operationName, variableValues, contextValue } = args;
      const definition = getOperationAST(document, operationName);
      // Yoga's executor reports a missing or ambiguous operation name.
      if (definition === null || definition === undefined) return;
      const operation = { document, definition, variables: variableValues ?? undefined };
      const run = (respond: Respond) => runOperation(operation, operationRequest(contextValue), respond);
      // A result is there if the fast path has run the operation already, and only the response is left to make.
      setExecuteFn(() => contextValue.result ?? new Promise(run));
    },
    // The fast path opens streams, by POST alone.
    onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
      setResultAndStopExecution(refuse(noStreamError(contextValue.req)));
    },
  };
}

function operationRequest(context: YogaInitialContext & YogaContext): OperationRequest {
  const { headers, signal } = context.request;
  return {
    headers,
    requestRecord: context.requestRecord,
    response: context.res,
    onAbort(listener) {
      if (signal.aborted) listener(signal.reason);
      else signal.addEventListener('abort', () => listener(signal.reason), { once: true });
    },
  };
}

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import type { Tracing } from '../../telemetry/otlp-tracing.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { Operation } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions, selectedFields } from '../document-syntax/selections.ts';
import type { DocumentCache } from '../documents/document-cache.ts';
import { readBearer } from '../http/request-checks.ts';
import type { Limits } from '../limits/limits.ts';
import { createLimitCheck } from '../limits/operation-limits.ts';
import { toClientError } from './client-error.ts';
import type { ContextFactory, OperationContext } from './operation-context.ts';
import type { OperationRequest } from './operation-request.ts';
import { refuse } from './refusal.ts';
import { RestOperation, type RunState, runSchemaOperation } from './run-operation.ts';

/**
 * Runs an operation of a valid document, or refuses it: by its access token, the limits, or the load of this server.
 * @returns the result. Without `data` if the operation did not run. It rejects only by an error of this server.
 */
export type RunOperation = (operation: Operation, request: OperationRequest) => Promise<ExecutionResult>;

export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  limits: Limits;
  documents: DocumentCache;
  toOwner: (headers: HeaderReader, connection: object | undefined) => Owner;
  createContext: ContextFactory;
  runState: RunState;
  tracing: Tracing | undefined;
}

export function createOperationRunner(options: OperationRunnerOptions): RunOperation {
  const { documents, toOwner, createContext, runState, tracing } = options;
  const checkLimits = createLimitCheck(options.schema, options.limits);
  return (operation, request) => {
    const { document, definition } = operation;
    const { headers, requestRecord } = request;
    if (requestRecord !== undefined) requestRecord.operation = definition;
    let context: OperationContext | undefined;
    if (needsRest(definition, document)) {
      const bearer = readBearer(headers);
      if (typeof bearer !== 'string') {
        return Promise.resolve(refuse({ status: 401, ...toClientError(bearer) }));
      }
      context = createContext(bearer, request);
    }
    if (requestRecord !== undefined) {
      requestRecord.callContext = context?.callContext;
      tracing?.begin(requestRecord, headers);
    }
    const nodes = checkLimits(operation);
    if (typeof nodes !== 'number') return Promise.resolve({ errors: [nodes] });
    if (context === undefined) {
      const owner = toOwner(headers, request.response?.req.socket);
      return runSchemaOperation(operation, owner, nodes, request, runState);
    }
    // Anybody can make up a token, so only accepted ones protect documents from eviction.
    if (context.callContext.owner.connection === undefined) documents.promote(document);
    return new RestOperation(context, nodes, operation, request, runState).run();
  };
}

/** Whether an operation needs the REST service. All root fields do, except those of introspection. */
const needsRest = perOperation(({ selectionSet }, document): boolean => {
  const fields = selectedFields([selectionSet], collectDefinitions(document).fragments);
  return fields.some(({ node }) => !node.name.value.startsWith('__'));
});

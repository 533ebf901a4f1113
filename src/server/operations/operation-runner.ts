import type { GraphQLSchema } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import type { Tracing } from '../../telemetry/otlp-tracing.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions, selectedFields } from '../document-syntax/selections.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import type { DocumentCache } from '../documents/document-cache.ts';
import type { HeaderReader } from '../http/http-types.ts';
import type { Limits } from '../limits/limits.ts';
import { createLimitCheck } from '../limits/operation-limits.ts';
import { readBearer } from './bearer.ts';
import { toClientError } from './client-error.ts';
import type { ContextFactory, OperationContext } from './operation-context.ts';
import type { OperationRequest, Respond, SharedParts } from './operation-interfaces.ts';
import { refuse } from './refusal.ts';
import { RestOperation } from './rest-operation.ts';
import { SchemaOperation } from './schema-operation.ts';

/**
 * Runs an operation of a valid document, or refuses it: by its access token, the limits, or the load of this server.
 * @param respond called once, when the operation starts or is refused.
 */
export type RunOperation = (operation: Operation, request: OperationRequest, respond: Respond) => void;

export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  limits: Limits;
  documents: DocumentCache;
  toOwner: (headers: HeaderReader, connection: object) => Owner;
  createContext: ContextFactory;
  shared: SharedParts;
  tracing: Tracing | undefined;
}

export function createOperationRunner(options: OperationRunnerOptions): RunOperation {
  const { documents, toOwner, createContext, shared, tracing } = options;
  const checkLimits = createLimitCheck(options.schema, options.limits);
  return (operation, request, respond) => {
    const { document, definition } = operation;
    const { headers, requestRecord } = request;
    if (requestRecord !== undefined) requestRecord.operation = definition;
    let context: OperationContext | undefined;
    if (needsRest(definition, document)) {
      const bearer = readBearer(headers);
      if (typeof bearer !== 'string')
        return respond(Promise.resolve(refuse({ status: 401, ...toClientError(bearer) })));
      context = createContext(bearer, request);
    }
    if (requestRecord !== undefined) {
      requestRecord.callContext = context?.callContext;
      tracing?.begin(requestRecord, headers);
    }
    const nodes = checkLimits(operation);
    if (typeof nodes !== 'number') return respond(Promise.resolve({ errors: [nodes] }));
    const prepared = { operation, nodes, request, respond };
    if (context === undefined) {
      const owner = toOwner(headers, request.response.req.socket);
      return new SchemaOperation(prepared, owner, shared).run();
    }
    // Anybody can make up a token, so only accepted ones protect documents from eviction.
    if (context.callContext.owner.connection === undefined) documents.promote(document);
    new RestOperation(prepared, context, shared).run();
  };
}

/** Whether an operation needs the REST service. All root fields do, except those of introspection. */
const needsRest = perOperation(({ selectionSet }, document): boolean => {
  const fields = selectedFields([selectionSet], collectDefinitions(document).fragments);
  return fields.some(({ node }) => !node.name.value.startsWith('__'));
});

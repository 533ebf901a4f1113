import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import type { CachedDocument, DocumentCache } from '../documents/document-cache.ts';
import { type DocumentPolicy, type DocumentReference, findDocument } from '../documents/persisted-queries.ts';
import { badRequest, type HttpError } from '../http/http-error.ts';
import type { HeaderReader } from '../http/http-types.ts';
import type { Live, StreamRequest } from '../live/live.ts';
import { acceptedStream } from '../live/transport.ts';
import type { Admission } from '../operations/admission.ts';
import { waitForDocumentTurn } from '../operations/document-turn.ts';
import { refuse } from '../operations/refusal.ts';

/** The parameters of GraphQL over HTTP. */
export interface OperationParameters extends DocumentReference {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

/** A POST whose response may be a stream. */
export interface PossibleStream {
  request: StreamRequest;
  /** Undefined if the document is not cached, or if the request has an error. */
  operation: Operation | undefined;
  /** Undefined if the body has others. */
  parameters: OperationParameters | undefined;
  /** The error of the body. */
  httpError: HttpError | undefined;
  acceptsJson: boolean;
  /** Lets Yoga respond as JSON. */
  fallBack(): void;
}

export type RunStream = (possible: PossibleStream) => void;

export interface StreamRequestsOptions {
  live: Live;
  documentPolicy: DocumentPolicy;
  documents: DocumentCache;
  admission: Admission;
  toOwner: (headers: HeaderReader, connection: object) => Owner;
}

/**
 * Finds the operation of a request that may become a stream. A subscription gets its stream. The result of another
 * operation is JSON, or one event for a client that accepts no JSON. An error is one event for a client that prefers a
 * stream, too.
 */
export function createStreamRequests(options: StreamRequestsOptions): RunStream {
  const { live, documentPolicy, documents, admission } = options;

  async function run(possible: PossibleStream): Promise<void> {
    const { request, acceptsJson, fallBack } = possible;
    const accepted = acceptedStream(request.headers.get('accept'));
    if (accepted === undefined) return fallBack();
    const { transport, isPreferred } = accepted;
    const found = possible.operation ?? (await find(possible, isPreferred));
    if (found === undefined) fallBack();
    else if (!('definition' in found)) {
      if (acceptsJson && !isPreferred) fallBack();
      else live.respondOnce(found, request, transport);
    } else if (found.definition.operation === 'subscription') live.open(found, request, transport);
    else if (acceptsJson) fallBack();
    else live.runOnce(found, request, transport);
  }

  /** The operation, or the result of a request that has none. Undefined: JSON will do. */
  async function find(
    possible: PossibleStream,
    isPreferred: boolean,
  ): Promise<Operation | ExecutionResult | undefined> {
    const { request, parameters, httpError } = possible;
    if (parameters === undefined) return refuse(httpError ?? parametersError);
    const text = findDocument(documentPolicy, parameters, request.headers);
    if (typeof text !== 'string') return refuse(text ?? noDocumentError);
    // Some clients accept streams with each query. Yoga reads the document of a query.
    if (!isPreferred && !/\bsubscription\b/.test(text)) return undefined;
    const read = await readDocument(text, request);
    if (!('document' in read)) return refuse(read);
    const { document, errors } = read;
    if (document === undefined || errors.length > 0) return { errors: errors.map(toDocumentError(document)) };
    const definition = getOperationAST(document, parameters.operationName);
    if (definition == null) return refuse(noOperationError);
    return { document, definition, variables: parameters.variables ?? undefined };
  }

  async function readDocument(
    text: string,
    { headers, response }: StreamRequest,
  ): Promise<CachedDocument | HttpError> {
    const cached = documents.cached(text);
    if (cached !== undefined) return cached;
    const owner = options.toOwner(headers, response.req.socket);
    return (await waitForDocumentTurn(admission, owner, response)) ?? documents.load(text);
  }

  return (possible) => {
    // The fallback fails in the same way, and reports the error.
    run(possible).catch(possible.fallBack);
  };
}

/** The code that Yoga gives to the errors of a document. */
function toDocumentError(document: CachedDocument['document']) {
  const code = document === undefined ? 'GRAPHQL_PARSE_FAILED' : 'GRAPHQL_VALIDATION_FAILED';
  return ({ message, nodes, source, positions, extensions }: GraphQLError) =>
    new GraphQLError(message, { nodes, source, positions, extensions: { code, ...extensions } });
}

const parametersError = badRequest(
  'The body must be a JSON object with "query", and if needed "variables", "operationName" and "extensions".',
);
const noDocumentError = badRequest('The body has no "query".');
const noOperationError = badRequest(
  'The document has no operation with the given name. If the document has several operations, name one of them in "operationName".',
);

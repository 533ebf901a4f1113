import { getOperationAST } from 'graphql';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { ParsedBody } from '../http/request-body.ts';
import type { DocumentCache } from './document-cache.ts';
import { type DocumentPolicy, type DocumentReference, findDocument } from './persisted-queries.ts';

export interface DocumentSources {
  documentPolicy: DocumentPolicy;
  documents: DocumentCache;
}

/**
 * The operation of a parsed body, for the fast path. Undefined if the document is not cached, or if the request has an
 * error: Yoga then parses the document, and reports the error.
 */
export function requestedOperation(
  parsed: ParsedBody,
  headers: HeaderReader,
  { documentPolicy, documents }: DocumentSources,
): Operation | undefined {
  if (!('json' in parsed) || !areParameters(parsed.json)) return undefined;
  const { operationName, variables } = parsed.json;
  const found = findDocument(documentPolicy, parsed.json, headers);
  if ('httpError' in found || found.text === undefined) return undefined;
  const { document, errors } = documents.cached(found.text) ?? {};
  if (document === undefined || errors?.length !== 0) return undefined;
  const definition = getOperationAST(document, operationName);
  return definition ? { document, definition, variables: variables ?? undefined } : undefined;
}

interface Parameters extends DocumentReference {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

const isValidParameter: Readonly<Record<string, (value: unknown) => boolean>> = {
  query: (value) => typeof value === 'string',
  operationName: (value) => typeof value === 'string' && value !== '',
  variables: isObject,
  extensions: isObject,
  documentId: (value) => typeof value === 'string',
  id: (value) => typeof value === 'string',
};

/** Whether a body has only the parameters of GraphQL over HTTP, each null or of the right type. */
function areParameters(body: object): body is Parameters {
  // Parsed JSON has no inherited enumerable properties.
  for (const name in body) {
    if (!Object.hasOwn(isValidParameter, name)) return false;
    const value: unknown = body[name as keyof typeof body]; // A key of the same object.
    if (value !== null && isValidParameter[name]?.(value) !== true) return false;
  }
  return true;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

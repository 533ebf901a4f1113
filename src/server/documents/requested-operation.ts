import { getOperationAST } from 'graphql';
import { isJsonObject } from '../../base/json-object.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { ParsedBody } from '../http/request-body.ts';
import type { DocumentCache } from './document-cache.ts';
import { type DocumentPolicy, type DocumentReference, findDocument } from './persisted-queries.ts';

/**
 * The operation of a parsed body, for the fast path. Undefined if the document is not cached, or if the request has an
 * error: Yoga then parses the document, and reports the error.
 */
export function requestedOperation(
  parsed: ParsedBody,
  headers: HeaderReader,
  documentPolicy: DocumentPolicy,
  documents: DocumentCache,
): Operation | undefined {
  if (!('json' in parsed) || !areParameters(parsed.json)) return undefined;
  const { operationName, variables } = parsed.json;
  const text = findDocument(documentPolicy, parsed.json, headers);
  if (typeof text !== 'string') return undefined;
  const { document, errors } = documents.cached(text) ?? {};
  if (document === undefined || errors?.length !== 0) return undefined;
  const definition = getOperationAST(document, operationName);
  return definition ? { document, definition, variables: variables ?? undefined } : undefined;
}

interface Parameters extends DocumentReference {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
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
function areParameters(body: object): body is Parameters {
  // Parsed JSON has no inherited enumerable properties.
  for (const name in body) {
    if (!Object.hasOwn(isValidParameter, name)) return false;
    const value: unknown = body[name as keyof typeof body]; // A key of the same object.
    if (value !== null && isValidParameter[name]?.(value) !== true) return false;
  }
  return true;
}

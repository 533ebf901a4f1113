import { hash } from 'node:crypto';
import { isJsonObject } from '../../base/json-object.ts';
import { badRequest, type HttpError, rejection } from '../http/http-error.ts';
import type { HeaderReader } from '../http/http-types.ts';
import { createSegmentedCache } from './segmented-cache.ts';

/** The unchecked request parameters that name or contain the document. */
export interface DocumentReference {
  query?: unknown;
  /** An id as in the specification "GraphQL over HTTP". Relay clients send `id`. */
  documentId?: unknown;
  id?: unknown;
  /** Apollo clients send `persistedQuery: { version: 1, sha256Hash }`. */
  extensions?: unknown;
}

/** Decides which documents may run: trusted documents alone, or all with automatic persisted queries. */
export interface DocumentPolicy {
  /** The text of a request that sends an id alone. `headers` have the access token. */
  byId(id: string, headers: HeaderReader): string | HttpError;
  /** The text of a request that sends the text, and maybe its id. */
  byText(text: string, id: string | undefined, headers: HeaderReader): string | HttpError;
}

/** Finds the text of a request that sends the text, an id or both. Undefined if the request has neither. */
export function findDocument(
  policy: DocumentPolicy,
  reference: DocumentReference,
  headers: HeaderReader,
): string | HttpError | undefined {
  const id = requestedId(reference);
  if (typeof id === 'object') return id;
  const { query } = reference;
  if (typeof query === 'string' && query !== '') return policy.byText(query, id, headers);
  // Yoga rejects a `query` that is not a string.
  const isMissing = query === undefined || query === null || query === '';
  return isMissing && id !== undefined ? policy.byId(id, headers) : undefined;
}

/** The id of a request, if it has one. An error if ids are malformed or differ. */
function requestedId({ documentId, id, extensions }: DocumentReference): string | undefined | HttpError {
  const ids = new Set<string>();
  for (const value of [documentId, id]) {
    if (value == null) continue;
    if (typeof value !== 'string' || value === '')
      return badRequest('The id of a document must be a non-empty string.');
    ids.add(bareId(value));
  }
  const persisted = isJsonObject(extensions) ? extensions.persistedQuery : undefined;
  if (persisted != null) {
    if (!isJsonObject(persisted)) return malformedHashError;
    const { version, sha256Hash } = persisted;
    if (version !== 1) return notSupportedError;
    if (typeof sha256Hash !== 'string' || !/^[\da-f]{64}$/i.test(sha256Hash)) return malformedHashError;
    ids.add(sha256Hash.toLowerCase());
  }
  const [onlyId] = ids;
  return ids.size > 1 ? badRequest('The request refers to more than one document.') : onlyId;
}

/** Removes the prefix `sha256:`, which marks an id as a hash. */
export function bareId(id: string): string {
  return id.replace(/^sha256:/, '');
}

/**
 * Apollo's automatic persisted queries. A client sends a document with its SHA-256 once, and later the hash alone.
 * All tenants share one store, because only a client that has the document knows its hash. Anybody can send new texts, so
 * a text is promoted when a token that REST has accepted sends the text or its hash.
 * @param isTokenAccepted whether REST has accepted the access token in these headers in the last one to two hours.
 */
export function automaticPersistedQueries(
  isTokenAccepted: (headers: HeaderReader) => boolean,
  maxBytes = 16 * 1024 * 1024,
): DocumentPolicy {
  const texts = createSegmentedCache<string>(maxBytes, (text) => 2 * text.length + 256);

  function recordUse(id: string, headers: HeaderReader): void {
    if (texts.isNew(id) && isTokenAccepted(headers)) texts.promote(id);
  }

  return {
    byId(id, headers) {
      const text = texts.get(id);
      if (text === undefined) return notFoundError;
      recordUse(id, headers);
      return text;
    },
    byText(text, id, headers) {
      if (id === undefined) return text;
      if (texts.get(id) !== text) {
        if (hash('sha256', text) !== id) return badRequest('The hash does not match the query.');
        texts.add(id, text);
      }
      recordUse(id, headers);
      return text;
    },
  };
}

const malformedHashError = badRequest(
  '"extensions.persistedQuery" must have "version": 1 and "sha256Hash", the hexadecimal SHA-256 of a document.',
);

// Clients recognize these errors by their messages. The status is 200, as in Apollo Server: some clients ignore the body
// of other statuses, and would never send the document.
const notSupportedError = rejection(200, 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
const notFoundError = rejection(200, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');

import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { isJsonObject } from '../../base/json-object.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import { badRequest, type HttpError } from '../http/http-error.ts';
import type { DocumentCache } from './document-cache.ts';
import { SegmentedCache } from './segmented-cache.ts';

/** The unchecked request parameters that name or contain the document. */
export interface DocumentReference {
  query?: unknown;
  /** The id of a persisted document, as in the specification "GraphQL over HTTP". */
  documentId?: unknown;
  /** The id of a persisted document, as Relay clients send it. */
  id?: unknown;
  /** Apollo clients send `persistedQuery: { version: 1, sha256Hash }`. */
  extensions?: unknown;
}

/** Request parameters that Yoga itself does not accept. */
export const idParameters = ['documentId', 'id'];

/** The text to run, or an HTTP error. `text` is undefined if the request neither has nor names a document. */
export type DocumentText = { text: string | undefined } | { httpError: HttpError };

/** Decides which documents may run: trusted documents alone, or all with automatic persisted queries. */
export interface DocumentPolicy {
  /** The document of a request that sends an id alone. `headers` have the access token. */
  byId(id: string, headers: HeaderReader): DocumentText;
  /** The document of a request that sends the text. `id` is the id that was sent with the text, if any. */
  byText(text: string, id: string | undefined, headers: HeaderReader): DocumentText;
}

/** Finds the document of a request that sends the text, an id or both. An error if ids are malformed or differ. */
export function findDocument(
  policy: DocumentPolicy,
  reference: DocumentReference,
  headers: HeaderReader,
): DocumentText {
  const requested = requestedId(reference);
  if ('httpError' in requested) return requested;
  const { id } = requested;
  const { query } = reference;
  if (typeof query === 'string' && query !== '') return policy.byText(query, id, headers);
  // Yoga rejects a `query` that is not a string.
  const isMissing = query === undefined || query === null || query === '';
  return isMissing && id !== undefined ? policy.byId(id, headers) : { text: undefined };
}

function requestedId({
  documentId,
  id,
  extensions,
}: DocumentReference): { id: string | undefined } | { httpError: HttpError } {
  const ids = new Set<string>();
  for (const value of [documentId, id]) {
    if (value == null) continue;
    if (typeof value !== 'string' || value === '') {
      return { httpError: badRequest('The id of a document must be a text.') };
    }
    ids.add(bareId(value));
  }
  const persisted = isJsonObject(extensions) ? extensions.persistedQuery : undefined;
  if (persisted != null) {
    if (!isJsonObject(persisted)) return { httpError: malformedHashError };
    const { version, sha256Hash } = persisted;
    if (version !== 1) return { httpError: notSupportedError };
    if (typeof sha256Hash !== 'string' || !/^[\da-f]{64}$/i.test(sha256Hash)) {
      return { httpError: malformedHashError };
    }
    ids.add(sha256Hash.toLowerCase());
  }
  const [onlyId] = ids;
  return ids.size > 1
    ? { httpError: badRequest('The request names more than one document.') }
    : { id: onlyId };
}

/** Removes the prefix `sha256:`, which marks an id as a hash. */
export function bareId(id: string): string {
  return id.replace(/^sha256:/, '');
}

/**
 * Apollo's automatic persisted queries. A client sends a document with its SHA-256 once, and later the hash alone.
 * Only valid documents are stored.
 *
 * All tenants share one store. Sharing is safe: only a client that has the document knows its hash. The hash runs the
 * document with the access token of the request, and no response contains the document.
 *
 * Anybody can send new texts. A text is promoted when a token that REST has accepted sends the text or its hash.
 * @param isTokenAccepted whether REST has accepted the access token in these headers within an hour.
 * @param maxBytes memory for the texts.
 */
export function automaticPersistedQueries(
  documents: DocumentCache,
  isTokenAccepted: (headers: HeaderReader) => boolean,
  maxBytes = 16 * 1024 * 1024,
): DocumentPolicy {
  const texts = new SegmentedCache<string>(maxBytes, (text) => 2 * text.length + 256);

  function recordUse(id: string, headers: HeaderReader): void {
    if (texts.isNew(id) && isTokenAccepted(headers)) texts.promote(id);
  }

  return {
    byId(id, headers) {
      const text = texts.get(id);
      if (text === undefined) return { httpError: notFoundError };
      recordUse(id, headers);
      return { text };
    },
    byText(text, id, headers) {
      if (id === undefined) return { text };
      if (texts.get(id) !== text) {
        if (hash('sha256', text) !== id) {
          return { httpError: badRequest('The hash does not match the query.') };
        }
        if (documents.load(text).errors.length === 0) texts.add(id, text);
      }
      recordUse(id, headers);
      return { text };
    },
  };
}

const malformedHashError = badRequest(
  '"extensions.persistedQuery" must have "version": 1 and the SHA-256 of a document in hexadecimal as "sha256Hash".',
);

/**
 * Clients recognize these errors by their messages. The status is 200, as in Apollo Server: some clients ignore the body
 * of other statuses, and would never send the document.
 */
function persistedQueryError(code: string, message: string): HttpError {
  return { status: 200, code, message, retryable: false };
}

const notSupportedError = persistedQueryError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
const notFoundError = persistedQueryError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');

/** Yoga plugin: replaces the document id of a request by the text of the document. */
export function persistedDocuments(policy: DocumentPolicy): Plugin {
  return {
    onRequestParse({ request, url }) {
      if (request.method !== 'GET') return undefined;
      return {
        onRequestParseDone({ requestParserResult, setRequestParserResult }) {
          if (Array.isArray(requestParserResult) || requestParserResult.query !== undefined) return;
          // Yoga reads only its own parameters from the URL.
          const ids = idParameters.map((name) => [name, url.searchParams.get(name) ?? undefined]);
          setRequestParserResult({ ...requestParserResult, ...Object.fromEntries(ids) });
        },
      };
    },
    onParams({ request, params, setParams }) {
      const reference: GraphQLParams & DocumentReference = params;
      const found = findDocument(policy, reference, request.headers);
      if ('httpError' in found) {
        const { status, message, code, retryable } = found.httpError;
        throw new GraphQLError(message, { extensions: { code, retryable, http: { status } } });
      }
      if (found.text !== undefined && found.text !== params.query) {
        setParams({ ...params, query: found.text });
      }
    },
  };
}

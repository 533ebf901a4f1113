import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { HttpError } from '../http/http-error.ts';
import type { DocumentCache } from './document-cache.ts';

/** What a request says of its document, as it came. */
export interface DocumentReference {
  query?: unknown;
  /** The names that "GraphQL over HTTP" and Relay have for the id of a document that the server knows. */
  documentId?: unknown;
  id?: unknown;
  /** With `persistedQuery: { version: 1, sha256Hash }`, as clients of Apollo send it. */
  extensions?: unknown;
}

/** The parameters of a request that Yoga itself doesn't know. */
export const idParameters = ['documentId', 'id'];

/** The text to run, undefined where the request names no document at all; or why none is run. */
export type DocumentText = { text: string | undefined } | { httpError: HttpError };

/** The documents that clients may name instead of sending them. */
export interface PersistedQueries {
  textOf(reference: DocumentReference): DocumentText;
}

/** Which documents there are, and which texts may be sent. */
export interface DocumentPolicy {
  /** The text by its id, or why there is none. */
  byId(id: string): DocumentText;
  /** The text that was sent, with the id that was sent with it, or why it is not run. */
  byText(text: string, id: string | undefined): DocumentText;
}

/** Takes the document of a request, which names it, sends it, or does both. */
export function persistedQueries({ byId, byText }: DocumentPolicy): PersistedQueries {
  return {
    textOf(reference) {
      const parsedId = documentIdOf(reference);
      if ('httpError' in parsedId) return parsedId;
      const { query } = reference;
      if (typeof query === 'string' && query !== '') return byText(query, parsedId.id);
      // What is no text is refused where the parameters are looked at.
      const isQueryMissing = query === undefined || query === null || query === '';
      return isQueryMissing && parsedId.id !== undefined ? byId(parsedId.id) : { text: undefined };
    },
  };
}

/** The one id by which a request names its document, if any; or why that is none. */
function documentIdOf({
  documentId,
  id,
  extensions,
}: DocumentReference): { id: string | undefined } | { httpError: HttpError } {
  // Most requests.
  if (documentId == null && id == null && extensions == null) return { id: undefined };
  const ids = new Set<string>();
  for (const value of [documentId, id]) {
    if (value == null) continue;
    if (typeof value !== 'string' || value === '') {
      return { httpError: badRequest('The id of a document must be a text.') };
    }
    ids.add(bareId(value));
  }
  const persisted = persistedQueryOf(extensions);
  if (persisted != null) {
    if (typeof persisted !== 'object' || !('sha256Hash' in persisted))
      return { httpError: malformedHashError };
    const { sha256Hash } = persisted;
    if (!('version' in persisted) || persisted.version !== 1) return { httpError: notSupportedError };
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

/** An id without the prefix that says of it that it is a hash. */
export function bareId(id: string): string {
  return id.replace(/^sha256:/, '');
}

function persistedQueryOf(extensions: unknown): unknown {
  const hasOne = typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
  return hasOne ? extensions.persistedQuery : undefined;
}

/**
 * Apollo's automatic persisted queries: remembers a document by the SHA-256 of its text, when a client sends both, so that
 * the hash alone will do from then on. Only what may be run is remembered.
 *
 * One store for all tenants crosses nothing: a hash is answered by running the document that it is the hash of, on behalf of
 * the tenant that asks. Only who has the document has its hash. No answer tells what is in it.
 * @param maxBytes how much memory the texts may take; 0 switches this off.
 */
export function automaticPersistedQueries(documents: DocumentCache, maxBytes: number): PersistedQueries {
  const isOff = maxBytes === 0;
  const textByHash = new LRUCache<string, string>({
    // 0 would be no bound.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: (text) => 2 * text.length + 256,
  });
  return persistedQueries({
    byId(id) {
      const text = textByHash.get(id);
      if (text !== undefined) return { text };
      return { httpError: isOff ? notSupportedError : notFoundError };
    },
    byText(text, id) {
      if (id === undefined || isOff || textByHash.get(id) === text) return { text };
      if (hash('sha256', text) !== id) {
        return {
          httpError: badRequest('The id that the request gives to its document is not the SHA-256 of it.'),
        };
      }
      if (documents.errorsOf(text).length === 0) textByHash.set(id, text);
      return { text };
    },
  });
}

/** A request that is at odds with itself. */
export function badRequest(message: string): HttpError {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}

const malformedHashError = badRequest(
  '"extensions.persistedQuery" must have "version": 1 and the SHA-256 of a document in hexadecimal as "sha256Hash".',
);

// Clients know these two by their message. HTTP 200, as Apollo's server has it: some clients read no body of another
// status, and so would never send the document.
const notSupportedError: HttpError = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_SUPPORTED',
  message: 'PersistedQueryNotSupported',
  retryable: false,
};

const notFoundError: HttpError = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_FOUND',
  message: 'PersistedQueryNotFound',
  retryable: false,
};

/** Has Yoga run the text of the document that a request names. */
export function persistedDocuments(operations: PersistedQueries): Plugin {
  return {
    onRequestParse({ request, url }) {
      if (request.method !== 'GET') return undefined;
      return {
        onRequestParseDone({ requestParserResult, setRequestParserResult }) {
          if (Array.isArray(requestParserResult) || requestParserResult.query !== undefined) return;
          // Yoga reads its own parameters of a URL alone.
          const ids = idParameters.map((name) => [name, url.searchParams.get(name) ?? undefined]);
          setRequestParserResult({ ...requestParserResult, ...Object.fromEntries(ids) });
        },
      };
    },
    onParams({ params, setParams }) {
      const reference: GraphQLParams & DocumentReference = params;
      const documentText = operations.textOf(reference);
      if ('httpError' in documentText) {
        const { status, message, code, retryable } = documentText.httpError;
        throw new GraphQLError(message, { extensions: { code, retryable, http: { status } } });
      }
      if (documentText.text !== undefined && documentText.text !== params.query) {
        setParams({ ...params, query: documentText.text });
      }
    },
  };
}

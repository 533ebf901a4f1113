import type { Refusal } from '../http/refusal.ts';

/** What a request says of its document, as it came. */
export interface DocumentReference {
  query?: unknown;
  /** The names that "GraphQL over HTTP" and Relay have for the id of a document that the server knows. */
  documentId?: unknown;
  id?: unknown;
  /** With `persistedQuery: { version: 1, sha256Hash }`, as clients of Apollo send it. */
  extensions?: unknown;
}

/** The text to run, undefined where the request names no document at all; or why none is run. */
export type DocumentText = { text: string | undefined } | { refusal: Refusal };

/** The documents that clients may name instead of sending them. */
export interface PersistedOperations {
  textOf(reference: DocumentReference): DocumentText;
}

/** The one id by which a request names its document, if any; or why that is none. */
export function idOf(reference: DocumentReference): { id: string | undefined } | { refusal: Refusal } {
  const { documentId, id, extensions } = reference;
  // Most requests.
  if (documentId == null && id == null && extensions == null) return { id: undefined };
  const ids: string[] = [];
  for (const given of [documentId, id]) {
    if (given == null) continue;
    if (typeof given !== 'string' || given === '') {
      return { refusal: malformed('The id of a document must be a text.') };
    }
    ids.push(bareId(given));
  }
  const persisted = persistedQueryOf(extensions);
  if (persisted != null) {
    if (typeof persisted !== 'object' || !('sha256Hash' in persisted)) return { refusal: malformedHash };
    const { sha256Hash } = persisted;
    if (!('version' in persisted) || persisted.version !== 1) return { refusal: notSupported };
    if (typeof sha256Hash !== 'string' || !/^[\da-f]{64}$/i.test(sha256Hash))
      return { refusal: malformedHash };
    ids.push(sha256Hash.toLowerCase());
  }
  const [only, ...others] = new Set(ids);
  if (others.length > 0) return { refusal: malformed('The request names more than one document.') };
  return { id: only };
}

/** An id without the prefix that says of it that it is a hash. */
export function bareId(id: string): string {
  return id.replace(/^sha256:/, '');
}

function persistedQueryOf(extensions: unknown): unknown {
  const hasOne = typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
  return hasOne ? extensions.persistedQuery : undefined;
}

/** A request that is at odds with itself. */
export function malformed(message: string): Refusal {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}

const malformedHash = malformed(
  '"extensions.persistedQuery" must have "version": 1 and the SHA-256 of a document in hexadecimal as "sha256Hash".',
);

// Clients know these two by their message. HTTP 200, as Apollo's server has it: some clients read no body of another
// status, and so would never send the document.
export const notSupported: Refusal = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_SUPPORTED',
  message: 'PersistedQueryNotSupported',
  retryable: false,
};

export const notFound: Refusal = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_FOUND',
  message: 'PersistedQueryNotFound',
  retryable: false,
};

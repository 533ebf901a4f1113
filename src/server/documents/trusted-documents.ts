import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { HttpError } from '../http/http-error.ts';
import type { DocumentCache } from './document-cache.ts';
import { badRequest, bareId, type PersistedQueries, persistedQueries } from './persisted-queries.ts';

/** The texts of documents by their ids. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/** A list that holds documents which can't be run; the message names every one of them. */
export class TrustedDocumentsError extends Error {
  override readonly name = 'OperationListError';
}

/**
 * Lets clients run the documents of a list and no others, named by their id, by the SHA-256 of their text, or sent whole.
 * @throws OperationListError where documents of it are not of this schema, or beyond its limits.
 */
export function onlyTrustedDocuments(
  documents: DocumentCache,
  trustedDocuments: TrustedDocuments,
): PersistedQueries {
  const errors = [...trustedDocuments].flatMap(([id, text]) => {
    const [error, ...others] = documents.load(text).errors;
    // A second use keeps the document where new ones don't drive it out.
    documents.cached(text);
    if (error === undefined) return [];
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return [`${JSON.stringify(id)}: ${error.message}${more}`];
  });
  if (errors.length > 0) {
    const count = `${errors.length} of ${trustedDocuments.size} documents`;
    throw new TrustedDocumentsError(`${count} can't be run:\n  ${errors.join('\n  ')}`);
  }
  const texts = new Set(trustedDocuments.values());
  const textById = new Map([...texts].map((text) => [hash('sha256', text), text]));
  // An id that is given stands before a hash that happens to be the same.
  for (const [id, text] of trustedDocuments) textById.set(bareId(id), text);
  return persistedQueries({
    byId(id) {
      const text = textById.get(id);
      return text === undefined ? { httpError: notAllowedError } : { text };
    },
    byText(text, id) {
      if (!texts.has(text)) return { httpError: notAllowedError };
      if (id === undefined || textById.get(id) === text) return { text };
      return {
        httpError: badRequest('The id that the request gives to its document is another one\u2019s.'),
      };
    },
  });
}

// The request's fault, and not one of who asks: 403 would have clients sign in again.
const notAllowedError: HttpError = {
  status: 400,
  code: 'OPERATION_NOT_ALLOWED',
  message:
    'This server runs the operations of its list alone, and this is none of them: have it added there.',
  retryable: false,
};

/**
 * Reads a list of operations: JSON that holds documents by their ids, as Relay's compiler and GraphQL Code Generator
 * write it, or a manifest as Apollo's tools do.
 * @throws Error that says what is wrong with the file.
 */
export async function readTrustedDocuments(file: string): Promise<TrustedDocuments> {
  const json: unknown = JSON.parse(await readFile(file, 'utf8'));
  const entries = isRecord(json) ? (manifestEntries(json) ?? Object.entries(json)) : undefined;
  if (entries?.every(isEntry)) return new Map(entries);
  throw new Error('It holds neither documents by their ids nor a manifest of Apollo\u2019s');
}

/** The ids and texts of Apollo's manifest; undefined where it is none. */
function manifestEntries({ format, operations }: Record<string, unknown>): unknown[] | undefined {
  if (format !== 'apollo-persisted-query-manifest' || !Array.isArray(operations)) return undefined;
  return operations.map((operation: unknown) => isRecord(operation) && [operation.id, operation.body]);
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isEntry(entry: unknown): entry is [string, string] {
  return Array.isArray(entry) && entry.every((part) => typeof part === 'string');
}

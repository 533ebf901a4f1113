import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { counted } from '../../base/counted.ts';
import { decodeUtf8 } from '../../base/decode-text.ts';
import { isJsonObject } from '../../base/json-object.ts';
import { badRequest, rejection } from '../http/http-error.ts';
import type { DocumentCache } from './document-cache.ts';
import { bareId, type DocumentPolicy } from './persisted-queries.ts';

export type TrustedDocuments = ReadonlyMap<string, string>;

/** Thrown if trusted documents are invalid. The message names each invalid document. */
export class TrustedDocumentsError extends Error {
  override readonly name = 'TrustedDocumentsError';
}

/**
 * Lets clients run only trusted documents. A request sends the id, the SHA-256 of the text, or the text itself.
 * @throws TrustedDocumentsError if a document does not fit the schema or exceeds a limit.
 */
export function onlyTrustedDocuments(
  documents: DocumentCache,
  trustedDocuments: TrustedDocuments,
): DocumentPolicy {
  const errors = [...trustedDocuments].flatMap(([id, text]) => {
    const { document, errors } = documents.load(text);
    if (document !== undefined) documents.promote(document);
    const [error, ...others] = errors;
    if (error === undefined) return [];
    const more = others.length === 0 ? '' : ` (further errors: ${others.length})`;
    return [`${JSON.stringify(id)}: ${error.message}${more}`];
  });
  if (errors.length > 0) {
    const count = `${errors.length} of ${counted(trustedDocuments.size, 'document')}`;
    throw new TrustedDocumentsError(`${count} can't be run:\n  ${errors.join('\n  ')}`);
  }
  const texts = new Set(trustedDocuments.values());
  const textById = new Map([...texts].map((text) => [hash('sha256', text), text]));
  // An id of the list wins over an equal hash.
  for (const [id, text] of trustedDocuments) textById.set(bareId(id), text);
  return {
    byId(id) {
      return textById.get(id) ?? notAllowedError;
    },
    byText(text, id) {
      if (!texts.has(text)) return notAllowedError;
      if (id === undefined || textById.get(id) === text) return text;
      return badRequest('The id does not match the query.');
    },
  };
}

// 400, because 403 would make clients sign in again.
const notAllowedError = rejection(
  400,
  'OPERATION_NOT_ALLOWED',
  'This operation is not in the server\u2019s list of trusted documents.',
);

/**
 * Reads trusted documents from a JSON file. It is an object of texts by id, as Relay's compiler and GraphQL Code
 * Generator write it, or a manifest of Apollo's tools.
 * @throws Error if the file can't be read or has another format. The message describes the reason.
 */
export async function readTrustedDocuments(file: string): Promise<TrustedDocuments> {
  const text = decodeUtf8(await readFile(file));
  if (text === undefined) throw new Error('The file must be JSON in UTF-8');
  const json: unknown = JSON.parse(text);
  const entries = isJsonObject(json) ? (manifestEntries(json) ?? Object.entries(json)) : undefined;
  if (entries?.every(isEntry)) return new Map(entries);
  throw new Error('The file must map ids to documents, or be an Apollo manifest');
}

/** The ids and texts of an Apollo manifest. Undefined if the JSON is not a manifest. */
function manifestEntries({ format, operations }: Record<string, unknown>): unknown[] | undefined {
  if (format !== 'apollo-persisted-query-manifest' || !Array.isArray(operations)) return undefined;
  return operations.map((operation: unknown) => isJsonObject(operation) && [operation.id, operation.body]);
}

function isEntry(entry: unknown): entry is [string, string] {
  return Array.isArray(entry) && entry.every((part) => typeof part === 'string');
}

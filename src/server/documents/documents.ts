import type { DocumentNode, GraphQLSchema } from 'graphql';
import { parseWithin, validateWithin } from '../limits/document-limits.ts';
import type { Limits } from '../limits/limits.ts';
import { createDocumentCache, type DocumentCache } from './document-cache.ts';
import { automaticPersistedQueries, type PersistedQueries } from './persisted-queries.ts';
import { type SchemaAccess, validationByAccess } from './schema-access.ts';
import { onlyTrustedDocuments, type TrustedDocuments } from './trusted-documents.ts';

/** Which documents are taken, and what is kept of them. */
export interface DocumentOptions {
  /** Whether clients may explore the schema. */
  schemaAccess: SchemaAccess;
  /** How much memory known documents may take; 0 keeps none. */
  documentCacheBytes: number;
  /** The only documents that are taken; all are when left out. */
  trustedDocuments?: TrustedDocuments | undefined;
  /** How much memory the texts may take that clients name by their hash; 0 has clients send each whole. */
  persistedQueryBytes: number;
}

/**
 * The documents of a schema within limits, and how clients may name them. `onRead` is called for each that was not known.
 * @throws OperationListError
 */
export function createDocumentSources(
  schema: GraphQLSchema,
  limits: Limits,
  { schemaAccess, documentCacheBytes, trustedDocuments, persistedQueryBytes }: DocumentOptions,
  onRead = () => {},
): { documents: DocumentCache; operations: PersistedQueries } {
  // Nothing of it depends on the caller, or on the values of variables.
  const reader = {
    parse(text: string) {
      onRead();
      return parseWithin(limits, text);
    },
    validate: (document: DocumentNode) =>
      validateWithin(limits, schema, document, validationByAccess[schemaAccess]),
  };
  const documents = createDocumentCache(reader, documentCacheBytes);
  const operations =
    trustedDocuments === undefined
      ? automaticPersistedQueries(documents, persistedQueryBytes)
      : onlyTrustedDocuments(documents, trustedDocuments);
  return { documents, operations };
}

import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import { parseWithin, validateWithin } from '../limits/document-limits.ts';
import type { Limits } from '../limits/limits.ts';
import { createDocumentCache } from './document-cache.ts';
import { automaticPersistedQueries } from './persisted-queries.ts';
import type { DocumentSources } from './requested-operation.ts';
import { type SchemaAccess, validationByAccess } from './schema-access.ts';
import { onlyTrustedDocuments, type TrustedDocuments } from './trusted-documents.ts';

export interface DocumentOptions {
  /** Whether clients may introspect the schema. */
  schemaAccess: SchemaAccess;
  /** Memory of the document cache, by default 64 MiB. 0 caches nothing. */
  documentCacheBytes?: number | undefined;
  /** The only documents that are accepted. By default all documents are accepted. */
  trustedDocuments?: TrustedDocuments | undefined;
  /** Memory for the texts of automatic persisted queries, by default 16 MiB. 0 switches them off. */
  persistedQueryBytes?: number | undefined;
}

const defaultDocumentCacheBytes = 67_108_864;
const defaultPersistedQueryBytes = 16_777_216;

/**
 * Creates the document cache of a schema, and the policy for the documents of requests.
 * @param isTokenAccepted whether REST has accepted the access token in these headers within an hour.
 * @param onRead called for each document that is parsed because it is not cached.
 * @throws TrustedDocumentsError if trusted documents are invalid.
 */
export function createDocumentSources(
  schema: GraphQLSchema,
  limits: Limits,
  {
    schemaAccess,
    documentCacheBytes = defaultDocumentCacheBytes,
    trustedDocuments,
    persistedQueryBytes = defaultPersistedQueryBytes,
  }: DocumentOptions,
  isTokenAccepted: (headers: HeaderReader) => boolean,
  onRead = () => {},
): DocumentSources {
  // Must not depend on the tenant or on the values of variables, because the cache serves all requests.
  const reader = {
    parse(text: string) {
      onRead();
      return parseWithin(limits, text);
    },
    validate: (document: DocumentNode) =>
      validateWithin(limits, schema, document, validationByAccess[schemaAccess]),
  };
  const documents = createDocumentCache(reader, documentCacheBytes);
  const documentPolicy =
    trustedDocuments === undefined
      ? automaticPersistedQueries(documents, persistedQueryBytes, isTokenAccepted)
      : onlyTrustedDocuments(documents, trustedDocuments);
  return { documents, documentPolicy };
}

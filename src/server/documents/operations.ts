import type { GraphQLSchema } from 'graphql';
import type { Limits } from '../limits/limits.ts';
import { automaticOperations, standardOperationBounds } from './automatic-operations.ts';
import {
  createDocuments,
  type DocumentReading,
  type Documents,
  standardDocumentBounds,
} from './documents.ts';
import { listedOperations, type OperationList } from './listed-operations.ts';
import type { PersistedOperations } from './persisted.ts';
import { documentReading } from './reading.ts';
import type { SchemaAccess } from './schema-access.ts';

/** Which documents are taken, and what is kept of them. */
export interface DocumentOptions {
  /** Whether clients may explore the schema; they may unless this says `private`. */
  schemaAccess?: SchemaAccess;
  /** How much memory known documents may take; 64 MiB when left out. */
  documentCacheBytes?: number;
  /** The only documents that are taken; all are when left out. */
  operationList?: OperationList | undefined;
  /** How much memory the texts may take that clients name by their hash; 16 MiB when left out. */
  persistedQueryBytes?: number;
}

/**
 * The documents of a schema within limits, and how clients may name them. `onRead` hears of each that was not known.
 * @throws OperationListError
 */
export function createOperations(
  schema: GraphQLSchema,
  limits: Limits,
  { schemaAccess = 'public', documentCacheBytes, operationList, persistedQueryBytes }: DocumentOptions,
  onRead = () => {},
): { documents: Documents; operations: PersistedOperations } {
  const documents = createDocuments(heard(documentReading(schema, schemaAccess, limits), onRead), {
    ...standardDocumentBounds,
    ...(documentCacheBytes !== undefined && { maxBytes: documentCacheBytes }),
  });
  const operations =
    operationList !== undefined
      ? listedOperations(documents, operationList)
      : automaticOperations(documents, {
          ...standardOperationBounds,
          ...(persistedQueryBytes !== undefined && { maxBytes: persistedQueryBytes }),
        });
  return { documents, operations };
}

function heard({ parse, validate }: DocumentReading, onRead: () => void): DocumentReading {
  return {
    parse(text) {
      onRead();
      return parse(text);
    },
    validate,
  };
}

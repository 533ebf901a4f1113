import type { GraphQLSchema } from 'graphql';
import { parseWithin, validateWithin } from '../limits/document-limits.ts';
import type { Limits } from '../limits/limits.ts';
import type { DocumentReading } from './documents.ts';
import { type SchemaAccess, validationByAccess } from './schema-access.ts';

/** How the documents of a schema are read. Nothing of it depends on who asks, or with which variables. */
export function documentReading(
  schema: GraphQLSchema,
  access: SchemaAccess,
  limits: Limits,
): DocumentReading {
  return {
    parse: (text) => parseWithin(limits, text),
    validate: (document) => validateWithin(limits, schema, document, validationByAccess[access]),
  };
}

import { type GraphQLSchema, parse, validate } from 'graphql';
import type { DocumentReading } from './documents.ts';
import { type SchemaAccess, validationByAccess } from './schema-access.ts';

/** How the documents of a schema are read. Nothing of it depends on who asks, or with which variables. */
export function documentReading(schema: GraphQLSchema, access: SchemaAccess): DocumentReading {
  const { rules, hideSuggestions } = validationByAccess[access];
  return {
    parse: (text) => parse(text),
    validate: (document) => validate(schema, document, rules, { hideSuggestions }),
  };
}

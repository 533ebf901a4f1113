import { getOperationAST } from 'graphql';
import type { Documents } from './documents/document-cache.ts';
import type { PersistedOperations } from './documents/persisted-queries.ts';
import type { BodyParsed } from './http/body.ts';
import { parametersIn } from './http/plain-parameters.ts';
import type { CompiledQueries, CompiledQuery } from './operation/compiled-queries.ts';
import type { Operation } from './operation/operation.ts';

/** Where queries are found that are known. */
export interface KnownQueries {
  operations: PersistedOperations;
  documents: Documents;
  compiledQueries: CompiledQueries;
}

export interface QueryAsked {
  operation: Operation;
  compiled: CompiledQuery;
}

/** The query that a body asks for; undefined where it is not compiled, or something may be wrong with what was sent. */
export function queryIn(
  parsed: BodyParsed,
  { operations, documents, compiledQueries }: KnownQueries,
): QueryAsked | undefined {
  const parameters = 'json' in parsed ? parametersIn(parsed.json) : undefined;
  if (parameters === undefined) return undefined;
  const found = operations.textOf(parameters);
  if ('refusal' in found || found.text === undefined) return undefined;
  const known = documents.known(found.text);
  if (known?.document === undefined || known.errors.length > 0) return undefined;
  const { document } = known;
  const definition = getOperationAST(document, parameters.operationName);
  if (definition === null || definition === undefined) return undefined;
  const operation = { document, definition, variables: parameters.variables ?? undefined };
  const compiled = compiledQueries.of(operation);
  return compiled && { operation, compiled };
}

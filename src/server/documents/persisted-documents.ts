import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { DocumentReference, PersistedOperations } from './persisted.ts';

/** The parameters of a request that Yoga itself doesn't know. */
export const idParameters = ['documentId', 'id'];

/** Puts the text of the document in the place of its id. */
export function persistedDocuments(operations: PersistedOperations): Plugin {
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
      const found = operations.textOf(reference);
      if ('refusal' in found) {
        const { status, message, code, retryable } = found.refusal;
        throw new GraphQLError(message, { extensions: { code, retryable, http: { status } } });
      }
      if (found.text !== undefined && found.text !== params.query)
        setParams({ ...params, query: found.text });
    },
  };
}

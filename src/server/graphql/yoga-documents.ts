import { type DocumentNode, GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { Owner } from '../../concurrency/owner.ts';
import type { DocumentCache } from '../documents/document-cache.ts';
import { type DocumentPolicy, type DocumentReference, findDocument } from '../documents/persisted-queries.ts';
import type { HeaderReader } from '../http/http-types.ts';
import type { Admission } from '../operations/admission.ts';
import { waitForDocumentTurn } from '../operations/document-turn.ts';
import { clientGone, refuse } from '../operations/refusal.ts';
import type { YogaContext } from './yoga-context.ts';

/** Request parameters that Yoga itself does not accept. */
export const idParameters = ['documentId', 'id'];

/** Yoga plugin: replaces the document id of a request by the text of the document. */
export function yogaDocumentIds(policy: DocumentPolicy): Plugin {
  return {
    onRequestParse({ request, url }) {
      if (request.method !== 'GET') return undefined;
      return {
        onRequestParseDone({ requestParserResult, setRequestParserResult }) {
          if (Array.isArray(requestParserResult)) return;
          // Yoga reads only its own parameters from the URL.
          const ids = idParameters.map((name) => [name, url.searchParams.get(name) ?? undefined]);
          setRequestParserResult({ ...requestParserResult, ...Object.fromEntries(ids) });
        },
      };
    },
    onParams({ request, params, setParams }) {
      const reference: GraphQLParams & DocumentReference = params;
      const found = findDocument(policy, reference, request.headers);
      if (typeof found === 'object') {
        const { status, message, code, retryable } = found;
        throw new GraphQLError(message, { extensions: { code, retryable, http: { status } } });
      }
      if (found !== undefined && found !== params.query) setParams({ ...params, query: found });
    },
  };
}

/**
 * Yoga plugin: parses and validates by `documents`. Yoga's own caches are bounded by count, not by size.
 * A new document takes a slot of `admission`.
 * @param toOwner the owner whose turn the parsing of a new document takes.
 */
export function yogaDocuments(
  documents: DocumentCache,
  admission: Admission,
  toOwner: (headers: HeaderReader, connection: object) => Owner,
): Plugin<object, YogaContext> {
  const errorsByDocument = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  return {
    onParams({ params: { query }, request, context: { res }, setResult }) {
      if (typeof query !== 'string' || documents.cached(query) !== undefined) return undefined;
      const owner = toOwner(request.headers, res.req.socket);
      return waitForDocumentTurn(admission, owner, res).then((refusal) => {
        if (refusal !== undefined) setResult(refuse(refusal));
        else if (res.destroyed) setResult(refuse(clientGone));
      });
    },
    // Not `setParsedDocument`: an error thrown in this hook would bypass the plugins that add code and status.
    onParse({ setParseFn }) {
      setParseFn((source: string) => {
        const { document, errors } = documents.load(source);
        if (document === undefined) throw errors[0];
        errorsByDocument.set(document, errors);
        return document;
      });
    },
    onValidate({ params, setResult }) {
      const errors = errorsByDocument.get(params.documentAST);
      // Yoga validates a document that was not parsed by this plugin.
      if (errors !== undefined) setResult(errors);
    },
  };
}

import type { DocumentNode, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Documents } from './documents.ts';

/** Has Yoga take documents and their errors from `documents`. Its own caches count documents, whatever their size. */
export function knownDocuments(documents: Documents): Plugin {
  const errorsOf = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  return {
    // Not `setParsedDocument`, as what is thrown here would not get to the plugins that give it code and status.
    onParse({ setParseFn }) {
      setParseFn((source: string) => {
        const { document, errors } = documents.of(source);
        if (document === undefined) throw errors[0];
        errorsOf.set(document, errors);
        return document;
      });
    },
    onValidate({ params, setResult }) {
      const errors = errorsOf.get(params.documentAST);
      // One that was parsed elsewhere is validated as ever.
      if (errors !== undefined) setResult(errors);
    },
  };
}

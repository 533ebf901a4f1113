import { type DocumentNode, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

/** What is known of the text of a document. */
export interface CachedDocument {
  /** Undefined where the text can't be parsed. */
  readonly document: DocumentNode | undefined;
  /** Why it may not be run; none where it may. */
  readonly errors: readonly GraphQLError[];
}

/** Parsed and validated documents by their text. They are the same for every caller, and hold nothing of any. */
export interface DocumentCache {
  /** Why a text may not be run; none where it may. Reads it if need be, which is no use of it. */
  errorsOf(text: string): readonly GraphQLError[];
  /** What is known of a text without reading it. */
  cached(text: string): CachedDocument | undefined;
  /** @throws what parsing or validating throws that is no GraphQLError, such as a lack of stack. */
  load(text: string): CachedDocument;
}

/** How a text that is not known yet is read. */
export interface DocumentReader {
  /** @throws GraphQLError where it is no GraphQL, or beyond a limit. */
  parse(text: string): DocumentNode;
  validate(document: DocumentNode): readonly GraphQLError[];
}

// The garbage collector looks at each document that is kept, and at what is kept of its operations.
const maxDocuments = 5_000;

// Anybody can send documents like no other. They drive out none that is asked for again and again.
const probationaryShare = 1 / 4;

/**
 * Reads each text once, for as long as it is kept. What is new, and what is refused, has a quarter of the memory. What may
 * be run moves to the rest when it is asked for again.
 * @param maxBytes how much memory documents may take, as estimated by `bytesOf`; 0 keeps none.
 */
export function createDocumentCache({ parse, validate }: DocumentReader, maxBytes: number): DocumentCache {
  const cacheOf = (share: number) =>
    new LRUCache<string, CachedDocument>({
      max: Math.ceil(maxDocuments * share),
      // 0 would be no bound. No document is as small as this.
      maxSize: Math.max(1, Math.floor(maxBytes * share)),
      sizeCalculation: estimateBytes,
    });
  const probationary = cacheOf(probationaryShare);
  const protectedDocuments = cacheOf(1 - probationaryShare);

  function read(text: string): CachedDocument {
    const entry = readText(text);
    entry.errors.forEach(dropStackTrace);
    probationary.set(text, entry);
    return entry;
  }

  function readText(text: string): CachedDocument {
    let document: DocumentNode;
    try {
      document = parse(text);
    } catch (error) {
      if (error instanceof GraphQLError) return { document: undefined, errors: [error] };
      throw error;
    }
    return { document, errors: validate(document) };
  }

  function cached(text: string): CachedDocument | undefined {
    const protectedDocument = protectedDocuments.get(text);
    if (protectedDocument !== undefined) return protectedDocument;
    const entry = probationary.get(text);
    if (entry?.errors.length === 0) {
      probationary.delete(text);
      protectedDocuments.set(text, entry);
    }
    return entry;
  }

  return {
    cached,
    load: (text) => cached(text) ?? read(text),
    errorsOf: (text) => (protectedDocuments.peek(text) ?? probationary.peek(text) ?? read(text)).errors,
  };
}

/** A trace holds what validation knew, 40 KB for each error that is kept. Nobody reads the traces of refusals. */
function dropStackTrace(error: Error): void {
  error.stack = `${error.name}: ${error.message}`;
  if (error instanceof GraphQLError && error.originalError !== undefined) dropStackTrace(error.originalError);
}

/**
 * About how many bytes a known document takes. A text of brackets and short names takes 200 times its length when it is
 * parsed: 270 to 440 bytes a token were measured, and up to 770 with its query compiled. Comments are kept as tokens too.
 */
function estimateBytes({ document }: CachedDocument, text: string): number {
  let tokens = 0;
  for (let token = document?.loc?.startToken; token; token = token.next ?? undefined) tokens += 1;
  return 2 * text.length + 800 * (document?.tokenCount ?? tokens) + 200 * tokens + 2_000;
}

/** Has Yoga take documents and their errors from `documents`. Its own caches count documents, whatever their size. */
export function cachedDocuments(documents: DocumentCache): Plugin {
  const errorsOf = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  return {
    // Not `setParsedDocument`, as what is thrown here would not get to the plugins that give it code and status.
    onParse({ setParseFn }) {
      setParseFn((source: string) => {
        const { document, errors } = documents.load(source);
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

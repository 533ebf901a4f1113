import { type DocumentNode, GraphQLError } from 'graphql';
import { truncateMessage } from '../../base/truncate-message.ts';
import { createSegmentedCache } from './segmented-cache.ts';

export interface CachedDocument {
  readonly document: DocumentNode | undefined;
  /** Syntax and validation errors. Empty if the document may be run. */
  readonly errors: readonly GraphQLError[];
}

/** Reads documents that are not cached. It must not depend on the tenant or on variables: all requests share them. */
export interface DocumentReader {
  /** @throws GraphQLError if the text is not valid GraphQL, or exceeds a limit. */
  parse(text: string): DocumentNode;
  validate(document: DocumentNode): readonly GraphQLError[];
}

export type DocumentCache = ReturnType<typeof createDocumentCache>;

export function createDocumentCache(reader: DocumentReader, maxBytes = 64 * 1024 * 1024) {
  const entries = createSegmentedCache(maxBytes, estimateBytes);

  function read(text: string): CachedDocument {
    let document: DocumentNode;
    try {
      document = reader.parse(text);
    } catch (error) {
      if (error instanceof GraphQLError) return { document: undefined, errors: [error] };
      throw error;
    }
    return { document, errors: reader.validate(document) };
  }

  return {
    cached: (text: string): CachedDocument | undefined => entries.get(text),
    /** Parses and validates a text that is not cached. @throws RangeError for a stack overflow. */
    load(text: string): CachedDocument {
      let entry = entries.get(text);
      if (entry === undefined) {
        entry = read(text);
        entry.errors.forEach(shorten);
        entries.add(text, entry);
      }
      return entry;
    },
    /** Protects a cached document from eviction by documents that are not promoted. */
    promote({ loc }: DocumentNode): void {
      if (loc !== undefined) entries.promote(loc.source.body);
    },
  };
}

/** Drops the stack trace, which keeps 40 KB of validation state, and the rest of a long message. */
function shorten(error: Error): void {
  error.message = truncateMessage(error.message);
  error.stack = `${error.name}: ${error.message}`;
  if (error instanceof GraphQLError && error.originalError !== undefined) shorten(error.originalError);
}

/**
 * Estimates the memory of a document with its plans, rather too high than too low. Measured: 270 to 440 bytes for each
 * token, and 220 for each token of a plan. A document keeps at most four plans. A comment takes less than a token. A
 * parsed text of brackets and short names takes 200 times its length.
 */
function estimateBytes({ document }: CachedDocument, text: string): number {
  let tokensAndComments = 0;
  for (let token = document?.loc?.startToken; token; token = token.next ?? undefined) tokensAndComments += 1;
  const tokens = document?.tokenCount ?? tokensAndComments;
  return 2 * text.length + 1_000 * tokens + 200 * tokensAndComments + 2_000;
}

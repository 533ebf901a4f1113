import { type DocumentNode, GraphQLError } from 'graphql';
import { type Bounds, createBoundedMap } from './bounded-map.ts';

/** What is known of the text of a document. */
export interface KnownDocument {
  /** Undefined where the text can't be parsed. */
  readonly document: DocumentNode | undefined;
  /** Why it may not be run; none where it may. */
  readonly errors: readonly GraphQLError[];
}

/** Parsed and validated documents by their text. They are the same for every caller, and hold nothing of any. */
export interface Documents {
  /** Why a text may not be run; none where it may. Reads it if need be, which is no use of it. */
  errorsOf(text: string): readonly GraphQLError[];
  /** What is known of a text without reading it. */
  known(text: string): KnownDocument | undefined;
  /** @throws what parsing or validating throws that is no GraphQLError, such as a lack of stack. */
  of(text: string): KnownDocument;
}

/** How a text that is not known yet is read. */
export interface DocumentReading {
  /** @throws GraphQLError where it is no GraphQL, or beyond a limit. */
  parse(text: string): DocumentNode;
  validate(document: DocumentNode): readonly GraphQLError[];
}

/** Of memory, as estimated by `memoryOf`. */
export const standardDocumentBounds: Bounds = { maxEntries: 5_000, maxBytes: 64 * 1024 * 1024 };

// What is refused is kept as well, lest the same text cost its validation again, and so is what was asked for once. But
// neither drives out what is asked for again and again: anybody can send documents like no other.
const shareOfRefused = 1 / 16;
const shareOfNew = 1 / 4;

/** Reads each text once, for as long as it is known. */
export function createDocuments(
  { parse, validate }: DocumentReading,
  { maxEntries, maxBytes }: Bounds = standardDocumentBounds,
): Documents {
  const boundsOf = (share: number): Bounds => ({
    maxEntries: Math.ceil(maxEntries * share),
    maxBytes: maxBytes * share,
  });
  const refused = createBoundedMap<KnownDocument>(boundsOf(shareOfRefused));
  const askedForOnce = createBoundedMap<KnownDocument>(boundsOf(shareOfNew));
  const askedForAgain = createBoundedMap<KnownDocument>(boundsOf(1 - shareOfNew - shareOfRefused));

  function read(text: string): KnownDocument {
    let document: DocumentNode;
    try {
      document = parse(text);
    } catch (error) {
      if (error instanceof GraphQLError) return { document: undefined, errors: [error] };
      throw error;
    }
    return { document, errors: validate(document) };
  }

  /** What is refused is kept, and with the trace of each of its errors 40 KB of what validation knew of. Nobody reads these. */
  function readWithoutTraces(text: string): KnownDocument {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return read(text);
    } catch {
      // A fault of this server, which the log is to say the place of: it comes again.
      Error.stackTraceLimit = stackTraceLimit;
      return read(text);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  function readAnew(text: string): KnownDocument {
    const found = readWithoutTraces(text);
    const bytes = memoryOf(text, found);
    const isForOnce = bytes <= maxBytes * shareOfNew;
    const accepted = isForOnce ? askedForOnce : askedForAgain;
    (found.errors.length === 0 ? accepted : refused).set(text, found, bytes);
    return found;
  }

  function knownOf(text: string): KnownDocument | undefined {
    const known = askedForAgain.get(text) ?? refused.get(text);
    if (known !== undefined) return known;
    const before = askedForOnce.take(text);
    if (before !== undefined) askedForAgain.set(text, before.value, before.bytes);
    return before?.value;
  }

  return {
    known: knownOf,
    of: (text) => knownOf(text) ?? readAnew(text),
    errorsOf(text) {
      const known = askedForAgain.get(text) ?? refused.get(text) ?? askedForOnce.get(text) ?? readAnew(text);
      return known.errors;
    },
  };
}

/**
 * About how many bytes a known document takes. A text of brackets and short names takes 200 times its length when it is
 * parsed: 270 to 440 bytes a token were measured, and up to 770 with its query compiled. Comments are kept as tokens too.
 */
function memoryOf(text: string, { document }: KnownDocument): number {
  let tokens = 0;
  for (let token = document?.loc?.startToken; token; token = token.next ?? undefined) tokens += 1;
  return 2 * text.length + 800 * (document?.tokenCount ?? tokens) + 200 * tokens + 2_000;
}

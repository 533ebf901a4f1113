import { hash } from 'node:crypto';
import { type Bounds, createBoundedMap } from './bounded-map.ts';
import type { Documents } from './documents.ts';
import { idOf, malformed, notFound, notSupported, type PersistedOperations } from './persisted.ts';

export const standardOperationBounds: Bounds = { maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Remembers documents by the SHA-256 of their text, when a client sends both, so that the hash alone will do from then
 * on: Apollo's automatic persisted queries. Only what may be run is remembered, and nothing where `bounds` allow none.
 *
 * One store for all tenants crosses nothing: it answers a hash with running the document of which that is the hash, on
 * behalf of whoever asks, and nobody has the hash who does not have the document. No answer tells what is in it.
 */
export function automaticOperations(
  documents: Documents,
  bounds: Bounds = standardOperationBounds,
): PersistedOperations {
  const textByHash = createBoundedMap<string>(bounds);
  const isOff = bounds.maxBytes === 0;

  return {
    textOf(reference) {
      const named = idOf(reference);
      if ('refusal' in named) return named;
      const { id } = named;
      const { query } = reference;
      // What is no text is refused by whoever looks at the parameters.
      if (id === undefined || (query != null && typeof query !== 'string')) {
        return { text: typeof query === 'string' ? query : undefined };
      }
      if (query == null || query === '') {
        const text = textByHash.get(id);
        if (text !== undefined) return { text };
        return { refusal: isOff ? notSupported : notFound };
      }
      if (isOff || textByHash.get(id) === query) return { text: query };
      if (hash('sha256', query) !== id) {
        return {
          refusal: malformed('The id that the request gives to its document is not the SHA-256 of it.'),
        };
      }
      if (documents.errorsOf(query).length === 0) textByHash.set(id, query, 2 * query.length + 256);
      return { text: query };
    },
  };
}

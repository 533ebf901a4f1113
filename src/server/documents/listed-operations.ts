import { hash } from 'node:crypto';
import type { Refusal } from '../http/refusal.ts';
import type { Documents } from './documents.ts';
import { bareId, idOf, malformed, type PersistedOperations } from './persisted.ts';

/** The texts of documents by their ids. */
export type OperationList = ReadonlyMap<string, string>;

/** A list that holds documents which can't be run; the message names every one of them. */
export class OperationListError extends Error {
  override readonly name = 'OperationListError';
}

/**
 * Lets clients run the documents of a list and no others, named by their id, by the SHA-256 of their text, or sent whole.
 * @throws OperationListError where documents of it are not of this schema, or beyond its limits.
 */
export function listedOperations(documents: Documents, list: OperationList): PersistedOperations {
  const faults = [...list].flatMap(([id, text]) => {
    const [error, ...others] = documents.of(text).errors;
    // Asked for again and again, it is to be expected.
    documents.known(text);
    if (error === undefined) return [];
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return [`${JSON.stringify(id)}: ${error.message}${more}`];
  });
  if (faults.length > 0) {
    const count = `${faults.length} of ${list.size} documents`;
    throw new OperationListError(`${count} can't be run:\n  ${faults.join('\n  ')}`);
  }
  const textById = new Map([...list.values()].map((text) => [hash('sha256', text), text]));
  // An id that is given stands before a hash that happens to be the same.
  for (const [id, text] of list) textById.set(bareId(id), text);
  const texts = new Set(list.values());

  return {
    textOf(reference) {
      const named = idOf(reference);
      if ('refusal' in named) return named;
      const { id } = named;
      const { query } = reference;
      if (query == null || query === '') {
        if (id === undefined) return { text: undefined };
        const text = textById.get(id);
        return text === undefined ? { refusal: notAllowed } : { text };
      }
      // What is no text is refused by whoever looks at the parameters.
      if (typeof query !== 'string') return { text: undefined };
      if (!texts.has(query)) return { refusal: notAllowed };
      if (id === undefined || textById.get(id) === query) return { text: query };
      return { refusal: malformed('The id that the request gives to its document is another one\u2019s.') };
    },
  };
}

// The request's fault, and not one of who asks: 403 would have clients sign in again.
const notAllowed: Refusal = {
  status: 400,
  code: 'OPERATION_NOT_ALLOWED',
  message:
    'This server runs the operations of its list alone, and this is none of them: have it added there.',
  retryable: false,
};

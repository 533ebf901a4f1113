import type { Loaders } from '../../loaders/loaders.ts';
import type { Position } from '../../loaders/paging/cursor.ts';
import { queryKey } from '../../loaders/paging/page-loader.ts';

/** Encodes and decodes the cursors of one list. The signature covers the list name and its filters. */
export class ListCursors {
  readonly #loaders: Loaders;
  readonly #list: string;
  readonly #query: object;
  #cachedListKey: string | undefined;

  constructor(loaders: Loaders, list: string, query: object) {
    this.#loaders = loaders;
    this.#list = list;
    this.#query = query;
  }

  /** Makes the signed cursor of a position in the list. */
  encode(position: Position): string {
    return this.#loaders.cursors.encode(this.#listKey(), position);
  }

  /** Reads a position from a cursor. @throws BadInputError if it is not a cursor of this list. */
  decode(cursor: string): Position {
    return this.#loaders.cursors.decode(this.#listKey(), cursor);
  }

  #listKey(): string {
    this.#cachedListKey ??= `${this.#list} ${queryKey(this.#query)}`;
    return this.#cachedListKey;
  }
}

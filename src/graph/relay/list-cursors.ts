import type { Loaders } from '../../loaders/loaders.ts';
import type { Position } from '../../loaders/paging/cursor.ts';
import { queryKey } from '../../loaders/paging/page-loader.ts';

/** The cursors of one list with its filters, by whose name they are signed. */
export class ListCursors {
  readonly #loaders: Loaders;
  readonly #list: string;
  readonly #query: object;
  #name: string | undefined;

  constructor(loaders: Loaders, list: string, query: object) {
    this.#loaders = loaders;
    this.#list = list;
    this.#query = query;
  }

  encode(position: Position): string {
    return this.#loaders.cursors.encode(this.#nameOfList(), position);
  }

  /** @throws BadInputError for what is no cursor of this list. */
  decode(cursor: string): Position {
    return this.#loaders.cursors.decode(this.#nameOfList(), cursor);
  }

  #nameOfList(): string {
    this.#name ??= `${this.#list} ${queryKey(this.#query)}`;
    return this.#name;
  }
}

import type { PageQuery } from '../../rest/api-types.ts';
import type { Pages } from '../paging/page-loader.ts';
import { allRecords } from '../paging/page-walk.ts';
import { RecordLoader } from '../record-loader.ts';
import type { ReferenceLoader } from './reference-loader.ts';

/**
 * Loads records without a GET endpoint ("Endpoints") from their whole list, which each operation reads once. A name that
 * is missing may be newer than a cached page. Then the list is read once more.
 */
export class WholeListLoader<Json extends { name: string }> extends RecordLoader<Json> {
  #index: Promise<Map<string, Json>> | undefined;

  constructor(pages: Pages<Json, PageQuery> & Pick<ReferenceLoader<Json, PageQuery>, 'forgetEarlier'>) {
    const read = async () => new Map((await allRecords(pages, {})).map((row) => [row.name, row]));
    super(async (names) => {
      this.#index ??= read();
      let index = await this.#index;
      if (names.some((name) => !index.has(name)) && pages.forgetEarlier()) {
        this.#index = read();
        index = await this.#index;
      }
      return names.map((name) => index.get(name) ?? null);
    });
  }

  override clearAll(): void {
    this.#index = undefined;
    super.clearAll();
  }
}

import type { PageQuery } from '../../rest/api-types.ts';
import type { Pages } from '../paging/page-loader.ts';
import { allRecords } from '../paging/page-walk.ts';
import { RecordLoader } from '../record-loader.ts';
import type { ReferenceLoader } from './reference-loader.ts';

/**
 * A loader of records without a GET endpoint ("Endpoints"). It looks them up in their whole list. A name that is
 * missing may be newer than a cached page. Then the list is read once more.
 * @example originById: (_source, { originPage }) => wholeListLoader(originPage)
 */
export function wholeListLoader<Json extends { name: string }>(
  pages: Pages<Json, PageQuery> & Pick<ReferenceLoader<Json, PageQuery>, 'isCacheUsed' | 'forgetEarlier'>,
): RecordLoader<Json> {
  const read = async () => new Map((await allRecords(pages, {})).map((row) => [row.name, row]));
  return new RecordLoader(async (names) => {
    const mayBeOld = pages.isCacheUsed;
    let recordByName = await read();
    if (mayBeOld && names.some((name) => !recordByName.has(name))) {
      pages.forgetEarlier();
      recordByName = await read();
    }
    return names.map((name) => recordByName.get(name) ?? null);
  });
}

import { hash } from 'node:crypto';
import { parseJson } from '../../base/json-object.ts';
import { WaybillError } from '../../rest/errors.ts';
import { queryKey } from './page-loader.ts';

/** The client's cursor is none, or belongs to another list or to other filters. Found before any call to REST. */
export class InvalidCursorError extends WaybillError {}

/** A position between two rows of a list. Reading can continue from there. Keys tell rows apart (`page-walk.ts`). */
export interface Position {
  /** The token of the REST page to read. Undefined for the first page. */
  pageToken: string | undefined;
  /** The number of list rows before that page. */
  rowsBefore: number;
  /** The number of rows of that page before the position. */
  skip: number;
  /** The key of the row just before the position. */
  anchor: string | undefined;
  /** The key of the row just after the position. After rows came, went or moved, the keys find the position again. */
  next?: string | undefined;
  /** The key of the first row of the page before. Undefined on the first page. */
  firstBefore?: string | undefined;
  /** The token of the page at which a joined list is read on. It saves calls, and never changes which rows follow. */
  joined?: string | undefined;
}

export const startOfList: Position = { pageToken: undefined, rowsBefore: 0, skip: 0, anchor: undefined };

// A REST page token must fit into a request line, so no valid cursor is longer.
const maxLength = 16_384;

/**
 * The cursors of one list with its filters, for any access token that may read the list. They are not signed: a cursor
 * that a client makes up reaches REST with its own token (docs/design/how-lists-are-read.md#cursors).
 */
export class ListCursors {
  readonly #digest: string;

  constructor(list: string, filters: object) {
    this.#digest = hash('sha256', `${list} ${queryKey(filters)}`, 'base64url').slice(0, 11);
  }

  encode(position: Position): string {
    const { pageToken, rowsBefore, skip, anchor, firstBefore, next, joined } = position;
    const fields = [this.#digest, pageToken ?? null, rowsBefore, skip, anchor ?? null];
    const optional = [firstBefore, next, joined];
    const count = optional.findLastIndex((field) => field !== undefined) + 1;
    fields.push(...optional.slice(0, count).map((field) => field ?? null));
    const cursor = Buffer.from(JSON.stringify(fields)).toString('base64url');
    // Only with two long tokens, one of which saves calls alone.
    const isTooLong = joined !== undefined && cursor.length > maxLength;
    return isTooLong ? this.encode({ ...position, joined: undefined }) : cursor;
  }

  /** @throws InvalidCursorError if the cursor is of another list or other filters, or is no cursor. */
  decode(cursor: string): Position {
    const [digest, pageToken, rowsBefore, skip, anchor, firstBefore, next, joined] = parseFields(cursor);
    // Clients may have made the fields up. The first page has no page before it. With `firstBefore`, it would look as if
    // REST ignored page tokens.
    if (
      digest === this.#digest &&
      isTextOrAbsent(pageToken) &&
      pageToken !== '' &&
      isRowCount(rowsBefore) &&
      isRowCount(skip) &&
      isTextOrAbsent(anchor) &&
      isTextOrAbsent(firstBefore) &&
      (firstBefore === undefined || pageToken !== undefined) &&
      isTextOrAbsent(next) &&
      isTextOrAbsent(joined)
    )
      return { pageToken, rowsBefore, skip, anchor, firstBefore, next, ...(joined && { joined }) };
    throw new InvalidCursorError(
      'Expected "after" to be a cursor of this list with the same filters. Start again without "after".',
    );
  }
}

function parseFields(cursor: string): unknown[] {
  const fields = cursor.length <= maxLength && parseJson(Buffer.from(cursor, 'base64url').toString());
  return Array.isArray(fields) ? fields.map((field: unknown) => field ?? undefined) : [];
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isRowCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

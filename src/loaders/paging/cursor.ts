import { createHmac, timingSafeEqual } from 'node:crypto';
import { BadInputError } from '../../rest/errors.ts';

/** A position between two rows of a list. Reading can continue from there. */
export interface Position {
  /** The token of the REST page to read. Undefined for the first page. */
  pageToken: string | undefined;
  /** The number of list rows before that page. */
  rowsBefore: number;
  /** The number of rows of that page before the position. */
  skip: number;
  /** The name of the row just before the position. If new rows appear above, the name finds the position again. */
  anchor: string | undefined;
}

/** Converts positions to the cursors that clients hold, and back. */
export interface Cursors {
  encode(list: string, position: Position): string;
  /** @throws BadInputError if the cursor is of another list, other filters or another token, or is forged. */
  decode(list: string, cursor: string): Position;
}

// A REST page token must fit into a request line, so no valid cursor is longer.
const maxLength = 16_384;
const signatureBytes = 16;

/**
 * Creates cursors signed with the access token. Cursors of another token are rejected. Servers need no common
 * secret, and cursors stay valid after a restart. `list`, the list name with its filters, is signed too.
 */
export function createCursors(bearer: string): Cursors {
  const sign = (list: string, payload: string) =>
    createHmac('sha256', bearer)
      .update(`waybill cursor\n${list}\n${payload}`)
      .digest()
      .subarray(0, signatureBytes);

  return {
    encode(list, { pageToken, rowsBefore, skip, anchor }) {
      const fields = [pageToken ?? null, rowsBefore, skip, anchor ?? null];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${payload}.${sign(list, payload).toString('base64url')}`;
    },
    decode(list, cursor) {
      const [payload = '', signature = '', ...more] = cursor.length > maxLength ? [] : cursor.split('.');
      const actual = Buffer.from(signature, 'base64url');
      const expected = sign(list, payload);
      const isSigned =
        more.length === 0 && actual.length === expected.length && timingSafeEqual(actual, expected);
      const position = isSigned ? positionFrom(payload) : undefined;
      if (position !== undefined) return position;
      throw new BadInputError(
        'Expected as "after" a cursor that this list gave for the same filters and the same access token. ' +
          'Start again without "after".',
      );
    },
  };
}

/** Validates the payload. A signed payload may still be wrong: clients hold the signing key, their own token. */
function positionFrom(payload: string): Position | undefined {
  const fields = parsePayload(payload);
  if (!Array.isArray(fields) || fields.length !== 4) return undefined;
  const [pageToken, rowsBefore, skip, anchor] = fields.map((field: unknown) => field ?? undefined);
  const isValid =
    isTextOrAbsent(pageToken) && isRowCount(rowsBefore) && isRowCount(skip) && isTextOrAbsent(anchor);
  return isValid ? { pageToken, rowsBefore, skip, anchor } : undefined;
}

function parsePayload(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    // Not JSON, so `encode` did not write this payload.
    return undefined;
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

/** Whether a value is a valid number of rows. */
function isRowCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

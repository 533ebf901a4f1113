import { createHmac, timingSafeEqual } from 'node:crypto';
import { BadInputError } from '../../rest/errors.ts';

/** A place between two rows of a list, from which it can be read on. */
export interface Position {
  /** The REST page to read; undefined for the first. */
  pageToken: string | undefined;
  /** How many rows of the list come before that page. */
  rowsBefore: number;
  /** How many rows of that page come before this place. */
  skip: number;
  /** The name of the row just before this place, which finds it again when rows came in above. */
  anchor: string | undefined;
}

/** Turns positions into the cursors that clients hold, and back. */
export interface Cursors {
  encode(list: string, position: Position): string;
  /** @throws BadInputError for a cursor of another list, other filters or another token, or one made up. */
  decode(list: string, cursor: string): Position;
}

// A REST page token has to fit into a request line; a cursor longer than this is none of ours.
const maxLength = 16_384;
const signatureBytes = 16;

/**
 * Cursors signed with the caller's own token: another caller's don't pass, no secret has to be kept or shared between
 * servers, and a restart harms none. `list` names the list with its filters; it is signed too.
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

/** A client holds the key that signs its cursors, so that even a signed one need not be what `encode` wrote. */
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
    // Not JSON, so not a cursor of ours.
    return undefined;
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

/** Whether a value is a number of rows. */
function isRowCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

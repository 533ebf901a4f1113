import { createHmac, timingSafeEqual } from 'node:crypto';
import { BadInputError } from '../rest/errors.ts';

/** A place between two rows of a list, from which it can be read on. */
export interface Position {
  /** The REST page to read; undefined for the first. */
  pageToken: string | undefined;
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

// REST's page tokens are short; a cursor longer than this is none of ours.
const maxLength = 4096;
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
    encode(list, { pageToken, skip, anchor }) {
      const payload = Buffer.from(JSON.stringify([pageToken ?? null, skip, anchor ?? null])).toString(
        'base64url',
      );
      return `${payload}.${sign(list, payload).toString('base64url')}`;
    },
    decode(list, cursor) {
      const [payload = '', signature = ''] = cursor.length > maxLength ? [] : cursor.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(list, payload);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new BadInputError(
          'Expected as "after" a cursor that this list gave for the same filters and the same access token. ' +
            'Start again without "after".',
        );
      }
      // Signed, so it is what `encode` wrote.
      const [pageToken, skip, anchor] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
        string | null,
        number,
        string | null,
      ];
      return { pageToken: pageToken ?? undefined, skip, anchor: anchor ?? undefined };
    },
  };
}

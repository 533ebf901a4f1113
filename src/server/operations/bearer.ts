import { isAccessToken, maxAccessTokenLength } from '../../rest/access-token-form.ts';
import { MissingBearerError } from '../../rest/errors.ts';
import type { HeaderReader } from '../http/http-types.ts';

// One word, because two headers are joined by a comma and a blank.
const bearer = /^Bearer +(\S+)$/i;

/** Reads the access token ("Authentication"). @returns the error if the header is missing or malformed. */
export function readBearer(headers: HeaderReader): string | MissingBearerError {
  const header = headers.get('authorization');
  const token = bearer.exec(header ?? '')?.[1];
  if (token !== undefined && isAccessToken(token)) return token;
  const expected = 'the header "Authorization: Bearer <access token>"';
  return new MissingBearerError(`Expected ${expected}, but ${problemOf(header, token)}.`);
}

function problemOf(header: string | null, token: string | undefined): string {
  if (header === null) return 'it is missing';
  if (token === undefined) return 'it has a different form';
  const isTooLong = token.length > maxAccessTokenLength;
  const excess = isTooLong
    ? `more than ${maxAccessTokenLength} characters`
    : 'characters that are not visible ASCII';
  return `the access token has ${excess}`;
}

import { MissingBearerError } from '../../rest/errors.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';

// The b64token of RFC 6750, with a maximum length that fits into common header size limits.
const bearer = /^Bearer +([A-Za-z0-9\-._~+/]{1,8192}=*)$/i;

/**
 * Reads the access token from the `Authorization` header ("Authentication").
 * @returns the token, or the error for the client if the header is missing or malformed.
 */
export function bearerOf(headers: HeaderReader): string | MissingBearerError {
  const header = headers.get('authorization');
  const token = header === null ? undefined : bearer.exec(header.trim())?.[1];
  if (token !== undefined) return token;
  return new MissingBearerError(
    `Expected the header "Authorization: Bearer <access token>", but ${
      header === null ? 'there is none' : 'what came is not of that form'
    }.`,
  );
}

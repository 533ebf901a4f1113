import { MissingBearerError } from '../../rest/errors.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';

// RFC 6750's b64token, within a length that any header limit lets through.
const bearer = /^Bearer +([A-Za-z0-9\-._~+/]{1,8192}=*)$/i;

/** The access token of a request's `Authorization` header, or the error to answer with where there is none. */
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

import { ServiceError } from '../interface/service-error.ts';
import type { AccessToken, Merchants } from '../store/merchants.ts';

/** The sender of a request. */
export interface Caller {
  /** The text of the bearer token. Undefined without the header, and empty if the header has no token. */
  text: string | undefined;
  /** The token, also one that has ended. Undefined for a missing or unknown token. */
  token: AccessToken | undefined;
}

/** Reads an `Authorization` header and finds its token ("Authentication"). */
export function authenticate(merchants: Merchants, authorization: string | undefined): Caller {
  if (authorization === undefined) return { text: undefined, token: undefined };
  const text = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1] ?? '';
  return { text, token: merchants.findToken(text) };
}

/** The 401 error for a missing, unknown or ended token. */
export function unauthenticated({ text, token }: Caller): ServiceError {
  if (token !== undefined) return new ServiceError(401, 'This bearer token has ended');
  return new ServiceError(
    401,
    text === undefined ? 'A bearer token is required' : 'This bearer token is unknown',
  );
}

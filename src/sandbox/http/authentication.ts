import type { Merchant, Merchants } from '../store/merchants.ts';
import type { BearerKind } from './request-log.ts';

/** The sender of a request. */
export interface Caller {
  bearer: BearerKind;
  /** Undefined for a missing or unknown token. */
  merchant: Merchant | undefined;
}

/** Finds the merchant of an `Authorization` header ("Authentication"). */
export function authenticate(merchants: Merchants, authorization: string | undefined): Caller {
  if (authorization === undefined) return { bearer: 'none', merchant: undefined };
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1] ?? '';
  const merchant = merchants.byToken(token);
  if (merchant === undefined) return { bearer: 'unknown', merchant };
  return { bearer: merchants.tokens()[0] === token ? 'first' : 'second', merchant };
}

import type { Merchant, Merchants } from '../store/merchants.ts';
import type { BearerKind } from './request-log.ts';

/** Who asks. */
export interface Caller {
  bearer: BearerKind;
  /** Undefined for any bearer but the merchants' own. */
  merchant: Merchant | undefined;
}

/** "Authentication": who an `Authorization` header stands for. */
export function callerOf(merchants: Merchants, authorization: string | undefined): Caller {
  if (authorization === undefined) return { bearer: 'none', merchant: undefined };
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1] ?? '';
  const merchant = merchants.byToken(token);
  if (merchant === undefined) return { bearer: 'unknown', merchant };
  return { bearer: merchants.tokens()[0] === token ? 'first' : 'second', merchant };
}

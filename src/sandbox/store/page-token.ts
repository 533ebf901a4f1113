import { invalid } from '../interface/service-error.ts';
import type { Signatures } from './signatures.ts';

/** Merchant, path, filter and order of a list. A page token is valid for one such list only. */
export type ListIdentity = readonly [merchant: string, path: string, filter: string, order: 'ASC' | 'DESC'];

/**
 * Makes a page token for the records after a sequence number. The token names a position between two records, not a
 * count, so new records cause no repeated and no skipped rows.
 */
export function writePageToken(signatures: Signatures, list: ListIdentity, sequence: number): string {
  const position = Buffer.alloc(8);
  position.writeBigUInt64BE(BigInt(sequence));
  return Buffer.concat([position, signatures.sign(...list, sequence)]).toString('base64url');
}

/** Reads the sequence number of a token. @throws ServiceError 400 for a token that was not issued for this list. */
export function readPageToken(signatures: Signatures, list: ListIdentity, token: string): number {
  const bytes = Buffer.from(token, 'base64url');
  // base64url ignores stray characters, so compare the text with its canonical encoding.
  if (bytes.length === 24 && bytes.toString('base64url') === token) {
    const sequence = Number(bytes.readBigUInt64BE());
    if (signatures.verify(bytes.subarray(8), ...list, sequence)) return sequence;
  }
  throw invalid({
    field: 'pageToken',
    message: 'was not issued for this list, these filters and this merchant',
  });
}

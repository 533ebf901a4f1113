import { invalid } from '../interface/service-error.ts';
import type { Signatures } from './signatures.ts';

/** Whose list it is, which one, how it is filtered and ordered. A token of one is none of another. */
export type ListIdentity = readonly [merchant: string, path: string, filter: string, order: 'ASC' | 'DESC'];

/**
 * A page token for what follows the record of this sequence number. It stands for a place between two records, not
 * for a count of them, so that what is created meanwhile neither repeats nor skips any.
 */
export function writePageToken(signatures: Signatures, list: ListIdentity, sequence: number): string {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(sequence));
  return Buffer.concat([place, signatures.sign(...list, sequence)]).toString('base64url');
}

/** The sequence number in a token. Throws a 400 for a token that was not issued for this list. */
export function readPageToken(signatures: Signatures, list: ListIdentity, token: string): number {
  const bytes = Buffer.from(token, 'base64url');
  // base64url forgives stray characters; only the very text that was issued passes.
  if (bytes.length === 24 && bytes.toString('base64url') === token) {
    const sequence = Number(bytes.readBigUInt64BE());
    if (signatures.verify(bytes.subarray(8), ...list, sequence)) return sequence;
  }
  throw invalid({
    field: 'pageToken',
    message: 'was not issued for this list, these filters and this merchant',
  });
}

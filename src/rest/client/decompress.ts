import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

// A Map, as a response may name anything, also what every object has.
const decompressors = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The value of `accept-encoding` where responses may be compressed. */
export const acceptedEncodings = 'gzip, br, deflate';

/** Whether a body of this `content-encoding` is compressed, so that `content-length` is not the size of the content. */
export function isCompressed(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** A decompressor for this `content-encoding`; undefined where the encoding is not known. */
export function createDecompressor(encoding: string | string[] | undefined): Transform | undefined {
  return decompressors.get(String(encoding).trim().toLowerCase())?.();
}

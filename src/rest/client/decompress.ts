import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

// A Map, because the header of a response may hold a name such as `constructor` that every object has.
const decompressors = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The `accept-encoding` header of requests for compressed responses. */
export const acceptedEncodings = 'gzip, br, deflate';

/** Whether a body with this `content-encoding` is compressed. `content-length` is then the compressed size. */
export function isCompressed(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** Creates a decompressor for this `content-encoding`. @returns undefined for an unknown encoding. */
export function createDecompressor(encoding: string | string[] | undefined): Transform | undefined {
  return decompressors.get(String(encoding).trim().toLowerCase())?.();
}

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** Makes the decompressor of a body. @param first the first bytes of the body, at least one */
export type CreateDecompressor = (first: Buffer) => Transform;

// HTTP means the format of zlib (RFC 9110, section 8.4.1.2), but some services send raw deflate. The first byte of zlib
// holds the method 8. In raw deflate this would be a stored block with padding bits, which no encoder writes.
const createDeflateDecompressor: CreateDecompressor = ([first = 0]) =>
  (first & 0x0f) === 8 ? createInflate() : createInflateRaw();

// A Map, because the header of a response may hold a name such as `constructor` that every object has.
const decompressors = new Map<string, CreateDecompressor>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', createDeflateDecompressor],
  ['br', () => createBrotliDecompress()],
]);

/** The decompressor for codings of `contentCodings`. Undefined for one that is unknown, and for several. */
export function decompressorOf([coding = '', ...others]: readonly string[]): CreateDecompressor | undefined {
  return others.length === 0 ? decompressors.get(coding) : undefined;
}

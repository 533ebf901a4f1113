import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { ContentCoding } from './content-negotiation.ts';

// Higher levels save a few more percent, for up to twice the CPU time.
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/**
 * Compresses a body outside the main thread (docs/design/what-a-response-carries.md#compression).
 * @throws errors of zlib.
 */
export async function compress(body: string | Uint8Array, coding: ContentCoding) {
  return coding === 'br' ? brotliAsync(body, brotliOptions) : gzipAsync(body, gzipOptions);
}

import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compress } from '../../../src/server/http/compression.ts';

test('brotli and gzip use compression level 4', async () => {
  const text = Array.from({ length: 500 }, (_, index) => `order ${index * 7919} of ${index % 13}`).join();
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  expect(await compress(text, 'br')).toEqual(brotliCompressSync(text, { params }));
  expect(await compress(text, 'gzip')).toEqual(gzipSync(text, { level: 4 }));
});

test('compression and decompression preserve strings and bytes', async () => {
  const text = 'Camisetas de algodón, '.repeat(500);
  for (const body of [text, Buffer.from(text)]) {
    expect(brotliDecompressSync(await compress(body, 'br')).toString()).toBe(text);
    expect(gunzipSync(await compress(body, 'gzip')).toString()).toBe(text);
  }
});

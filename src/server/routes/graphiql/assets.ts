import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { compress } from '../../http/compression.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A static file: the GraphiQL page, or a file that it loads. */
export interface Asset {
  /** With a hash of the content, so that browsers can keep the file forever. */
  url: string;
  contentType: string | undefined;
  bytes: Bytes;
  gzipped: Bytes;
}

/** Hashes and compresses a file. @throws errors of zlib. */
export async function createAsset(name: string, bytes: Bytes): Promise<Asset> {
  const extension = extname(name);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const url = `graphiql/${name.slice(0, -extension.length)}-${hash}${extension}`;
  return { url, contentType: contentTypes[extension], bytes, gzipped: await compress(bytes, 'gzip') };
}

/** Reads the files that the page loads, by their names. @throws errors of the file system, zlib and the GraphiQL package. */
export async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const worker = new Worker(new URL('./bundle.ts', import.meta.url));
  // `once` rejects with the worker's error if the worker fails.
  const [files]: [string, Bytes][][] = await once(worker, 'message');
  const assets = new Map<string, Asset>();
  for (const [name, bytes] of files ?? []) assets.set(name, await createAsset(name, bytes));
  for (const name of ['amendments.css', 'boot.js', 'icon.svg'])
    assets.set(name, await createAsset(name, await readFile(new URL(name, import.meta.url))));
  return assets;
}

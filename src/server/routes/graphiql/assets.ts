import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ContentCoding, compress } from '../../http/compression.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A static file: the GraphiQL page, or a file that it loads. */
export class Asset {
  /** With a hash of the content, so that browsers can keep the file forever. */
  readonly url: string;
  readonly contentType: string | undefined;
  readonly bytes: Bytes;
  readonly #compressed = new Map<ContentCoding, Promise<Bytes>>();

  constructor(name: string, bytes: Bytes) {
    const extension = extname(name);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    this.url = `graphiql/${name.slice(0, -extension.length)}-${hash}${extension}`;
    this.contentType = contentTypes[extension];
    this.bytes = bytes;
  }

  /** The compressed bytes. The first call for a coding compresses them. @throws errors of zlib. */
  compressed(coding: ContentCoding): Promise<Bytes> {
    const bytes = this.#compressed.get(coding) ?? compress(this.bytes, coding);
    this.#compressed.set(coding, bytes);
    bytes.catch(() => this.#compressed.delete(coding));
    return bytes;
  }
}

/** Reads the files that the page loads, by their names. @throws errors of the file system and of the GraphiQL package. */
export async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const worker = new Worker(new URL('./bundle.ts', import.meta.url));
  // `once` rejects with the worker's error if the worker fails.
  const [bundle]: [string, Bytes][][] = await once(worker, 'message');
  const own = ['amendments.css', 'boot.js', 'icon.svg'].map(
    async (name): Promise<[string, Bytes]> => [name, await readFile(new URL(name, import.meta.url))],
  );
  const files = [...(bundle ?? []), ...(await Promise.all(own))];
  return new Map(files.map(([name, bytes]) => [name, new Asset(name, bytes)]));
}

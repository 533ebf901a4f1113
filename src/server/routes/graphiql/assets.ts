import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { type ContentCoding, compress } from '../../http/compression.ts';
import type { GraphiqlFiles } from './bundle.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A static file: the GraphiQL page, or a file that it loads. */
export class Asset {
  readonly contentType: string;
  readonly bytes: Bytes;
  readonly #compressed = new Map<ContentCoding, Promise<Bytes>>();

  constructor(contentType: string, bytes: Bytes) {
    this.contentType = contentType;
    this.bytes = bytes;
  }

  /** The compressed bytes. The first call for a coding compresses them. @throws errors of zlib. */
  compressed(coding: ContentCoding): Promise<Bytes> {
    let bytes = this.#compressed.get(coding);
    if (bytes === undefined) {
      bytes = compress(this.bytes, coding).catch((error) => {
        this.#compressed.delete(coding);
        throw error;
      });
      this.#compressed.set(coding, bytes);
    }
    return bytes;
  }
}

/** The purpose of a static file of the page. */
export type AssetRole = keyof GraphiqlFiles | 'amendments' | 'boot' | 'icon';

/** The static files of the page. */
export interface Assets {
  /** The file names. Each contains a hash of the content, so that browsers can cache a file forever. */
  nameByRole: Readonly<Record<AssetRole, string>>;
  byName: ReadonlyMap<string, Asset>;
}

/** Reads all files that the page loads. @throws errors of the file system and of the GraphiQL package. */
export async function readAssets(): Promise<Assets> {
  const [bundle, amendments, boot, icon] = await Promise.all([
    readBundle(),
    readFile(new URL('./amendments.css', import.meta.url)),
    readFile(new URL('./boot.js', import.meta.url)),
    readFile(new URL('./icon.svg', import.meta.url)),
  ]);
  const byName = new Map<string, Asset>();
  const nameByRole = {} as Record<AssetRole, string>;
  const files: Record<AssetRole, Bytes> = { ...bundle, amendments, boot, icon };
  // The files of the bundle and of the folder have all roles.
  for (const [role, bytes] of Object.entries(files) as [AssetRole, Bytes][]) {
    const extension = extensions[role] ?? 'js';
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    nameByRole[role] = `${role}-${hash}.${extension}`;
    byName.set(nameByRole[role], new Asset(contentTypes[extension], bytes));
  }
  return { nameByRole, byName };
}

const extensions: { [role in AssetRole]?: 'css' | 'svg' } = { style: 'css', amendments: 'css', icon: 'svg' };
const contentTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

async function readBundle(): Promise<GraphiqlFiles> {
  const worker = new Worker(new URL('./bundle.ts', import.meta.url));
  // `once` rejects with the worker's error if the worker fails.
  const [files] = await once(worker, 'message');
  return files;
}

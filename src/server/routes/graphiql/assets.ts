import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import type { GraphiqlFiles } from './bundle.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A file that the page loads. */
export class Asset {
  readonly contentType: string;
  readonly bytes: Bytes;
  #gzipped: Promise<Bytes> | undefined;

  constructor(contentType: string, bytes: Bytes) {
    this.contentType = contentType;
    this.bytes = bytes;
  }

  /** The bytes by gzip. They are compressed once, at the first call, off the main thread. */
  gzipped(): Promise<Bytes> {
    this.#gzipped ??= promisify(gzip)(this.bytes);
    return this.#gzipped;
  }
}

/** What the page is made of. */
export type AssetRole = keyof GraphiqlFiles | 'amendments' | 'boot' | 'icon';

export interface Assets {
  /** The file names, which hold a hash of the content: what is behind a name never changes. */
  nameByRole: Readonly<Record<AssetRole, string>>;
  byName: ReadonlyMap<string, Asset>;
}

/** Reads all files that the page loads. @throws what the file system and the package's module throw. */
export async function readAssets(): Promise<Assets> {
  const [bundle, amendments, boot, icon] = await Promise.all([
    readBundle(),
    readFile(new URL('./amendments.css', import.meta.url)),
    readFile(new URL('./boot.js', import.meta.url)),
    readFile(new URL('./icon.svg', import.meta.url)),
  ]);
  const byName = new Map<string, Asset>();
  const add = (role: AssetRole, extension: keyof typeof contentTypes, bytes: Bytes) => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const name = `${role}-${hash}.${extension}`;
    byName.set(name, new Asset(contentTypes[extension], bytes));
    return name;
  };
  const nameByRole = {
    app: add('app', 'js', bundle.app),
    style: add('style', 'css', bundle.style),
    editorWorker: add('editorWorker', 'js', bundle.editorWorker),
    graphqlWorker: add('graphqlWorker', 'js', bundle.graphqlWorker),
    jsonWorker: add('jsonWorker', 'js', bundle.jsonWorker),
    amendments: add('amendments', 'css', amendments),
    boot: add('boot', 'js', boot),
    icon: add('icon', 'svg', icon),
  };
  return { nameByRole, byName };
}

const contentTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

async function readBundle(): Promise<GraphiqlFiles> {
  const worker = new Worker(new URL('./bundle.ts', import.meta.url));
  // Rejects with the worker's error, should it fail.
  const [files] = await once(worker, 'message');
  return files;
}

/** Whether an `accept-encoding` header lets gzip through. A quality of 0 rules it out. */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  const codings = (acceptEncoding ?? '').toLowerCase().split(',');
  return codings.some((coding) => /^\s*gzip\s*($|;)/.test(coding) && !/;\s*q=0(\.0*)?\s*$/.test(coding));
}

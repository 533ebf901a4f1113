import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { GraphiqlFiles } from './graphiql-bundle.ts';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

export interface Asset {
  contentType: string;
  /** The bytes to send. Each encoding is made once, when it is first asked for, off the main thread. */
  encoded(encoding: ContentEncoding): Promise<Uint8Array<ArrayBuffer>>;
}

/** What the page is made of. */
export type AssetRole = keyof GraphiqlFiles | 'amendments' | 'boot' | 'icon';

export interface Assets {
  /** The file names, which hold a hash of the content: what is behind a name never changes. */
  nameByRole: Readonly<Record<AssetRole, string>>;
  byName: ReadonlyMap<string, Asset>;
}

/** Reads everything that the page of GraphiQL needs. @throws what the file system and the package's module throw. */
export async function readAssets(): Promise<Assets> {
  const [bundle, amendments, boot, icon] = await Promise.all([
    readBundle(),
    readFile(new URL('./graphiql-amendments.css', import.meta.url)),
    readFile(new URL('./graphiql-boot.js', import.meta.url)),
    readFile(new URL('./graphiql-icon.svg', import.meta.url)),
  ]);
  const byName = new Map<string, Asset>();
  const add = (role: AssetRole, extension: keyof typeof contentTypes, bytes: Uint8Array<ArrayBuffer>) => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const name = `${role}-${hash}.${extension}`;
    byName.set(name, createAsset(contentTypes[extension], bytes));
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
  const worker = new Worker(new URL('./graphiql-bundle.ts', import.meta.url));
  // Rejects with the worker's error, should it fail.
  const [files] = await once(worker, 'message');
  return files;
}

function createAsset(contentType: string, bytes: Uint8Array<ArrayBuffer>): Asset {
  const made = new Map<ContentEncoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    contentType,
    encoded: (encoding) => {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const promise = encoders[encoding](bytes);
      made.set(encoding, promise);
      return promise;
    },
  };
}

// Brotli's quality 5 takes 0.4 s for all files; 11, its default, takes half a minute to save a fifth more.
const brotli = promisify(brotliCompress);
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
const encoders: Record<
  ContentEncoding,
  (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>
> = {
  br: (bytes) => brotli(bytes, { params }),
  gzip: promisify(gzip),
  identity: async (bytes) => bytes,
};

/** The smallest encoding that an `accept-encoding` header lets through; a quality of 0 rules one out. */
export function chooseEncoding(acceptEncoding: string | null): ContentEncoding {
  const accepted = (acceptEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? ''))
    .map(([coding]) => coding);
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : 'identity';
}

import { createHmac, randomBytes } from 'node:crypto';
import { monotonicMs } from '../../base/monotonic-ms.ts';
import {
  type DocumentStore,
  EndedDocumentError,
  type NewDocument,
  nameOf,
  type StoredDocument,
} from './document-store.ts';

const defaultMaxBytes = 67_108_864;
/** What a document takes beside its bytes. */
const overheadBytes = 1_024;

interface HeldDocument extends StoredDocument {
  /** Empty once the document has ended, so that no reader keeps its bytes in memory. */
  parts: Uint8Array[];
  /** With the overhead. */
  size: number;
  endsAtMs: number;
  timer: NodeJS.Timeout;
}

/** A timer of a busy process comes late. */
const isAlive = ({ endsAtMs }: HeldDocument): boolean => monotonicMs() < endsAtMs;

/** Documents in the memory of this process. @param maxBytes of all documents */
export function createMemoryDocuments(maxBytes = defaultMaxBytes): DocumentStore {
  const secret = randomBytes(32);
  // In the order of their creation.
  const documents = new Map<string, HeldDocument>();
  let bytesUsed = 0;

  function remove(name: string): void {
    const document = documents.get(name);
    if (document === undefined) return;
    clearTimeout(document.timer);
    document.parts = [];
    documents.delete(name);
    bytesUsed -= document.size;
  }

  async function* readParts(document: HeldDocument): AsyncIterable<Uint8Array> {
    const { length } = document.parts;
    for (let index = 0; index < length; index += 1) {
      const part = document.parts[index];
      if (part === undefined || !isAlive(document)) throw new EndedDocumentError();
      yield part;
    }
  }

  /** The holder with the most bytes loses its oldest document, until there is room. The new document counts. */
  function makeRoom(holder: string, size: number): void {
    while (bytesUsed + size > maxBytes) {
      const held = new Map([[holder, size]]);
      for (const one of documents.values()) held.set(one.holder, (held.get(one.holder) ?? 0) + one.size);
      let victim: { name: string; held: number } | undefined;
      for (const [name, one] of documents) {
        const total = held.get(one.holder) ?? 0;
        if (victim === undefined || total > victim.held) victim = { name, held: total };
      }
      if (victim === undefined) return;
      remove(victim.name);
    }
  }

  return {
    holderOf: (bearer) => createHmac('sha256', secret).update(bearer).digest('base64url'),
    failure: () => undefined,
    async put(id, { holder, parts, lifetimeMs }: NewDocument) {
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      const size = bytes + overheadBytes;
      if (size > maxBytes) return false;
      makeRoom(holder, size);
      const name = nameOf(id);
      const timer = setTimeout(() => remove(name), lifetimeMs).unref();
      const document: HeldDocument = {
        holder,
        bytes,
        size,
        timer,
        parts: [...parts],
        endsAtMs: monotonicMs() + lifetimeMs,
        createdAtMs: Date.now(),
        read: () => readParts(document),
      };
      documents.set(name, document);
      bytesUsed += size;
      return true;
    },
    async find(id) {
      const document = documents.get(nameOf(id));
      return document !== undefined && isAlive(document) ? document : undefined;
    },
    endAll(holder) {
      for (const [name, one] of documents) if (one.holder === holder) remove(name);
    },
    async close() {
      for (const name of documents.keys()) remove(name);
    },
  };
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { WaybillError } from '../../rest/errors.ts';

/** A document as a store has it. */
export interface StoredDocument {
  /** Whose document it is: a digest of the access token. */
  readonly holder: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  /** The PDF in parts. @throws EndedDocumentError if the document ends before its last part */
  read(): AsyncIterable<Uint8Array>;
}

/** A document has ended while it was read. */
export class EndedDocumentError extends WaybillError {
  constructor() {
    super('The document is no longer available.');
  }
}

export interface NewDocument {
  holder: string;
  parts: readonly Uint8Array[];
  lifetimeMs: number;
}

/**
 * Keeps documents until their time ends. Where it is full, the holder with the most bytes loses its oldest document. The
 * methods reject with StoreUnavailableError if the store cannot be reached.
 */
export interface DocumentStore {
  /** The digest of an access token, the same in all servers that share the store. Undefined before it is known. */
  holderOf(bearer: string): string | undefined;
  /** Why the store cannot keep a document now, as a sentence. Undefined if it probably can. Needs no I/O. */
  failure(): string | undefined;
  /** @returns false if the store has no room for so large a document. */
  put(id: string, document: NewDocument): Promise<boolean>;
  /** Undefined for every id that is not alive. */
  find(id: string): Promise<StoredDocument | undefined>;
  /** Ends the documents of a holder. */
  endAll(holder: string): void;
  close(): Promise<void>;
}

/** 128 random bits, as 22 characters. */
export function newDocumentId(): string {
  return randomBytes(16).toString('base64url');
}

/** The form of an id. Every other text is no id. */
export const documentIdForm = /^[\w-]{22}$/;

const derive = (id: string, purpose: string) => Buffer.from(hkdfSync('sha256', id, '', purpose, 32));

/** The name of a document in a store. The id cannot be found by it. */
export const nameOf = (id: string): string => derive(id, 'waybill document name').toString('base64url');

const cipher = 'aes-256-gcm';
const tagBytes = 16;

/** Encrypts the parts of a document by a key that is made from the id, and is stored nowhere. */
export function createSeal(id: string) {
  const key = derive(id, 'waybill document key');
  // The key is of one document, so the number of the part is used once.
  const nonce = (part: number) => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(part);
    return bytes;
  };
  return {
    seal(part: number, bytes: Uint8Array): Buffer {
      const encryption = createCipheriv(cipher, key, nonce(part));
      return Buffer.concat([encryption.update(bytes), encryption.final(), encryption.getAuthTag()]);
    },
    /** @throws Error if the part is not as it was sealed */
    open(part: number, sealed: Buffer): Buffer {
      const decryption = createDecipheriv(cipher, key, nonce(part));
      decryption.setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decryption.update(sealed.subarray(0, -tagBytes)), decryption.final()]);
    },
  };
}

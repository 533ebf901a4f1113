import { LRUCache } from 'lru-cache';
import type { Owner } from '../concurrency/owner.ts';

const maxHolders = 10_000;

/**
 * Whose slot the download of a document takes: that of the token that made the document. Many links then take no more
 * slots than their token. But a link has no token, and the store has only a digest of it, the holder. So an object that
 * stands for the token is kept for each holder.
 */
export class Holders {
  readonly #tokens = new LRUCache<string, WeakRef<object>>({ max: maxHolders });
  // For holders whose token this server has not seen. Their objects live as long as their entries.
  readonly #unseen = new LRUCache<string, object>({ max: maxHolders });

  /** Notes the token of a holder: its Tenant. */
  note(holder: string, token: object): void {
    if (this.#tokens.get(holder)?.deref() !== token) this.#tokens.set(holder, new WeakRef(token));
  }

  ownerOf(holder: string): Owner {
    return { token: this.#tokens.get(holder)?.deref() ?? this.#unseenToken(holder), connection: undefined };
  }

  #unseenToken(holder: string): object {
    const token = this.#unseen.get(holder) ?? {};
    this.#unseen.set(holder, token);
    return token;
  }
}

import { LRUCache } from 'lru-cache';
import type { Owner } from '../concurrency/owner.ts';

const maxHolders = 10_000;

/**
 * Who takes a slot for a document: the token that made it, also where this server knows of it only by the digest in the
 * store. A token and its documents then share their slots.
 */
export class Holders {
  readonly #tokens = new LRUCache<string, WeakRef<object>>({ max: maxHolders });
  // For holders whose token this server has not seen. Their objects live as long as their entries.
  readonly #unseen = new LRUCache<string, object>({ max: maxHolders });

  /** Notes the token of a holder. */
  note(holder: string, token: object): void {
    if (this.#tokens.get(holder)?.deref() !== token) this.#tokens.set(holder, new WeakRef(token));
  }

  ownerOf(holder: string): Owner {
    const token = this.#tokens.get(holder)?.deref() ?? this.#unseen.get(holder) ?? {};
    this.#unseen.set(holder, token);
    return { token, connection: undefined };
  }
}

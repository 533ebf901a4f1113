/**
 * Who asks for a part of what all requests share. A token that REST has accepted is one owner. All other requests are one
 * owner together, because anybody can make up tokens (docs/design/how-the-server-is-shared.md#keys).
 */
export type Owner =
  | { readonly token: object; readonly connection: undefined }
  // Requests of this owner take turns by connection.
  | { readonly token: object | undefined; readonly connection: object };

/** The owner of a request without a token. */
export function anonymousOwner(connection: object): Owner {
  return { token: undefined, connection };
}

/** The limit that refuses an owner, and whose limit it is. */
export interface Excess {
  limit: number;
  scope: 'all tokens' | 'this token' | 'tokens that the REST service has not accepted yet';
}

/**
 * Amounts in use, each of an owner. One token has at most `perToken`. Tokens that REST has not accepted leave a quarter of
 * the total to the others.
 */
export class OwnerUsage {
  readonly #total: number;
  readonly #perToken: number;
  readonly #ofOthers: number;
  readonly #usedByToken = new Map<object, number>();
  #usedByOthers = 0;
  #used = 0;

  /** @param perToken no limit by default. */
  constructor(total: number, perToken = Number.POSITIVE_INFINITY) {
    this.#total = total;
    this.#perToken = perToken;
    this.#ofOthers = Math.max(1, Math.floor((3 / 4) * total));
  }

  /** Whether the total is in use. The amount that reached the total may have exceeded it. */
  get isUsedUp(): boolean {
    return this.#used >= this.#total;
  }

  /** Whether the tokens that the REST service has not accepted use all that they may. */
  get isUsedUpByOthers(): boolean {
    return this.#usedByOthers >= this.#ofOthers;
  }

  /** The sum of all amounts. */
  get used(): number {
    return this.#used;
  }

  /** Whether an owner uses anything. Only with a limit per token. */
  isUsedBy({ token, connection }: Owner): boolean {
    return connection === undefined ? this.#usedByToken.has(token) : this.#usedByOthers > 0;
  }

  /**
   * The limit that leaves no room for an amount, apart from the total. A token that uses nothing may exceed its limit.
   * While the total is used up, tokens have equal parts of it.
   */
  ownExcess({ token, connection }: Owner, amount = 1): Excess | undefined {
    const used = token === undefined ? 0 : (this.#usedByToken.get(token) ?? 0);
    if (used > 0) {
      const limit = this.isUsedUp
        ? Math.min(this.#perToken, this.#total / this.#usedByToken.size)
        : this.#perToken;
      if (used + amount > limit) return { limit, scope: 'this token' };
    }
    return connection !== undefined && this.isUsedUpByOthers
      ? { limit: this.#ofOthers, scope: 'tokens that the REST service has not accepted yet' }
      : undefined;
  }

  /** The limit that leaves no room for one more. */
  excess(owner: Owner): Excess | undefined {
    return this.isUsedUp ? { limit: this.#total, scope: 'all tokens' } : this.ownExcess(owner);
  }

  /** Adds to what an owner uses, or takes a negative amount from it. `ofTotal`: the part that counts to the total. */
  add({ token, connection }: Owner, amount: number, ofTotal = amount): void {
    this.#used += ofTotal;
    if (connection !== undefined) this.#usedByOthers += amount;
    if (token === undefined || this.#perToken === Number.POSITIVE_INFINITY) return;
    const used = (this.#usedByToken.get(token) ?? 0) + amount;
    if (used > 0) this.#usedByToken.set(token, used);
    else this.#usedByToken.delete(token);
  }
}

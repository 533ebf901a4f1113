import type { Owner } from './owner.ts';

/** The limit that refuses an owner, and whose limit it is. */
export interface Excess {
  limit: number;
  scope: 'all tokens' | 'this token' | 'tokens that the REST service has not accepted yet';
}

/** Stands for all tokens that REST has not accepted. */
const strangers = {};

/** The token of an owner, or the object that stands for all tokens that REST has not accepted. */
export function keyOf({ token, connection }: Owner): object {
  return connection === undefined ? token : strangers;
}

/**
 * Amounts in use, each of an owner. One token has at most `perToken`, and tokens that REST has not accepted have together
 * at most three quarters of the total. An owner that uses nothing may exceed its limit by one amount, and the amount that
 * reaches the total may exceed the total: otherwise large amounts would never find room.
 */
export class Usage {
  readonly #total: number;
  readonly #perToken: number;
  readonly #perStrangers: number;
  readonly #byKey = new Map<object, number>();
  #sum = 0;

  /** @param perToken by default the total. */
  constructor(total: number, perToken = total) {
    this.#total = total;
    this.#perToken = perToken;
    this.#perStrangers = Math.max(1, Math.floor((3 / 4) * total));
  }

  /** The sum of all amounts. */
  get sum(): number {
    return this.#sum;
  }

  get isUsedUp(): boolean {
    return this.#sum >= this.#total;
  }

  get isUsedUpByStrangers(): boolean {
    return this.#amountOf(strangers) >= this.#perStrangers;
  }

  /** The limit of an owner that leaves no room for an amount, apart from the total. */
  ownExcess(owner: Owner, amount = 1): Excess | undefined {
    const isStranger = owner.connection !== undefined;
    const limit = isStranger ? this.#perStrangers : this.#perToken;
    const used = this.#amountOf(keyOf(owner));
    if (used === 0 || used + amount <= limit) return undefined;
    return { limit, scope: isStranger ? 'tokens that the REST service has not accepted yet' : 'this token' };
  }

  /** The limit that leaves no room for an amount. */
  excess(owner: Owner, amount = 1): Excess | undefined {
    return this.isUsedUp ? { limit: this.#total, scope: 'all tokens' } : this.ownExcess(owner, amount);
  }

  /** Whether an owner uses more than its equal part of the total. */
  isAboveEqualPart(owner: Owner): boolean {
    return this.#amountOf(keyOf(owner)) > this.#total / Math.max(1, this.#byKey.size);
  }

  /** Adds to what an owner uses, or takes a negative amount from it. */
  add(owner: Owner, amount: number): void {
    this.#sum += amount;
    const key = keyOf(owner);
    const used = this.#amountOf(key) + amount;
    if (used > 0) this.#byKey.set(key, used);
    else this.#byKey.delete(key);
  }

  #amountOf(key: object): number {
    return this.#byKey.get(key) ?? 0;
  }
}

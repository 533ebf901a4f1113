import { fewestForPage } from './batch-plan.ts';
import {
  asGuess,
  type DepthGuess,
  noWeights,
  type SearchedBatch,
  type Weights,
  withFound,
} from './depths.ts';

// The first batches of fewer may be chance, and would say much of each.
const tenantsForGuess = 20;
// One of so many begins without the guess: it looks deeper than that says, and shows whether it still holds.
const tenantsPerLook = 50;
// A batch of which the list has less says how deep few are.
const leastFound = 0.5;

/** One for all tenants. */
export function createDepthGuess(): DepthGuess {
  return new GuessFromTenants();
}

/**
 * Access tokens are replaced often, and each is a tenant. It says how far down the list ids are, and never whether they are
 * there at all: whoever took them to be nowhere would ask for no page, and could not see that they are.
 */
class GuessFromTenants implements DepthGuess {
  #seen: Weights = noWeights;
  #learned: Weights | undefined;
  #tenants = 0;
  #untilLook = tenantsPerLook;

  next(): Weights | undefined {
    if (this.#learned === undefined) return undefined;
    this.#untilLook -= 1;
    if (this.#untilLook > 0) return this.#learned;
    this.#untilLook = tenantsPerLook;
    return undefined;
  }

  saw(search: SearchedBatch): void {
    const { asked, indices } = search;
    if (asked < fewestForPage || indices.length < leastFound * asked) return;
    this.#seen = withFound(this.#seen, search);
    this.#tenants += 1;
    if (this.#tenants >= tenantsForGuess) this.#learned = asGuess(this.#seen);
  }
}

import { type LoopBudget, loopBudget, type PieceKind } from './event-loop-round.ts';
import { FairQueue, UnitEntry } from './fair-queue.ts';
import type { Owner } from './owner.ts';

/**
 * Steps of one kind. A step starts at once if the event loop has time. Otherwise owners start one in turn
 * (docs/design/how-the-server-is-shared.md#light-and-heavy).
 */
export class StepQueue {
  readonly #budget: LoopBudget;
  readonly #queue: FairQueue;

  constructor(kind: PieceKind, budget = loopBudget) {
    const grantWaiting = () => this.#queue.grantWaiting();
    this.#budget = budget;
    this.#queue = new FairQueue({
      capacity: Number.POSITIVE_INFINITY,
      hasTime: () => budget.hasTimeFor(grantWaiting, kind),
    });
  }

  /**
   * Starts a step, now or later. Steps must not throw.
   * @param nodes the GraphQL nodes whose work takes as long as the step and the promises that it settles.
   */
  run(owner: Owner, nodes: number, step: () => void): void {
    const entry = new UnitEntry(owner, () => {
      this.#budget.start(nodes);
      this.#queue.leave(entry);
      step();
    });
    if (this.#queue.acquire(entry) === 'granted') entry.onSlotGranted();
  }
}

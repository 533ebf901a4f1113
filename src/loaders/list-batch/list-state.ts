import { ByKind, HitDepth, ProcessDepth } from './hit-depth.ts';
import { CallTimes } from './planner.ts';
import { type ProcessCompleteness, RowCompleteness } from './row-completeness.ts';

/** State of one list that all tenants share: initial hit depths, and the time of the last row comparison. */
export interface ProcessListState {
  readonly depths: ByKind<ProcessDepth>;
  readonly completeness: ProcessCompleteness;
}

/** Creates the shared state of one list: one per list and process. */
export function createProcessListState(): ProcessListState {
  return {
    depths: new ByKind(() => new ProcessDepth()),
    completeness: { comparedAtMs: Number.NEGATIVE_INFINITY },
  };
}

const backOffMs = 10_000;

/** What earlier operations of a tenant have learned about one list. */
export class ListState {
  readonly times = new CallTimes();
  readonly completeness: RowCompleteness;
  readonly depths: ByKind<HitDepth>;
  readonly #now: () => number;
  #backOffUntil = Number.NEGATIVE_INFINITY;

  /** @param now A clock in milliseconds with any origin. */
  constructor(process = createProcessListState(), now = () => performance.now()) {
    this.completeness = new RowCompleteness(process.completeness, now);
    this.depths = new ByKind((kind) => new HitDepth(process.depths.of(kind), now));
    this.#now = now;
  }

  /** Whether pages may serve ids: list rows are complete and no back-off is running. */
  isUsable(): boolean {
    return this.#now() >= this.#backOffUntil && !this.completeness.isIncomplete();
  }

  /** Stops page reads for ten seconds after a page that failed, timed out, or was empty before the list's end. */
  startBackOff(): void {
    this.#backOffUntil = this.#now() + backOffMs;
  }
}

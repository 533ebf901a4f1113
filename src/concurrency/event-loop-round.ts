/** Runs a step later, after all steps deferred earlier. Steps must not throw. */
export type Defer = (step: () => void) => void;

/**
 * The largest response or request body, in bytes, whose processing may be deferred.
 * A larger body would evict the other bodies from the processor's caches.
 * Deferred bodies also count towards no memory limit.
 */
export const maxDeferredBytes = 16_384;

/**
 * Creates a function that defers steps to the end of the event-loop round, after all ready connections are read.
 * Deferred steps run one after the other, so their code stays in the processor's caches
 * (docs/decisions/0006-end-of-event-loop-round.md).
 */
export function createDefer(): Defer {
  let steps: (() => void)[] = [];

  function runSteps(): void {
    const currentSteps = steps;
    // Steps deferred from here on run in the next round.
    steps = [];
    for (const step of currentSteps) step();
  }

  return (step) => {
    if (steps.length === 0) setImmediate(runSteps);
    steps.push(step);
  };
}

/** After this time in a round, nothing more starts. In milliseconds. */
const maxRoundMs = 10;
/** The nodes of all pieces that may start before their time is known. Their work takes about 10 ms. */
const maxUnmeasuredNodes = 600;
/** A piece without nodes takes as long as these. */
const minNodes = 10;
// Each round accepts one connection. A flood of connections must not stop the work.
const maxRestRounds = 50;

/** Whether a piece of work starts an operation, or brings a running one closer to its end. */
export type PieceKind = 'starting' | 'ending';

/**
 * Bounds the work that starts in one round of the event loop. After 10 ms of work no further piece starts, and the event
 * loop accepts new connections and reads from the others first (docs/decisions/0027-one-budget-of-the-event-loop.md).
 */
export class LoopBudget {
  /** The sources of pieces that wait, in turn. Those of pieces that end an operation come first. */
  readonly #sources = { ending: new Set<() => void>(), starting: new Set<() => void>() };
  /** Undefined before the first work of a round. */
  #startedAtMs: number | undefined;
  #unmeasuredNodes = 0;
  #restRounds: number | undefined;
  #newConnections = 0;

  /** Whether a piece of work may start now. */
  hasTime(): boolean {
    const startedAtMs = this.#startedAtMs ?? this.#beginRound();
    return (
      this.#restRounds === undefined &&
      this.#unmeasuredNodes < maxUnmeasuredNodes &&
      performance.now() - startedAtMs < maxRoundMs
    );
  }

  /**
   * Counts a piece that starts now. Most of its work runs in promises, after the start. So its nodes stand for its time
   * until these promises have run.
   */
  start(nodes: number): void {
    // Node runs a tick that a microtask queues after all microtasks.
    if (this.#unmeasuredNodes === 0) queueMicrotask(() => process.nextTick(this.#onMeasured));
    this.#unmeasuredNodes += Math.max(nodes, minNodes);
  }

  /** Whether a piece of work may start now. Otherwise calls `source` once, in turn, as soon as a piece may start. */
  hasTimeFor(source: () => void, kind: PieceKind = 'starting'): boolean {
    if (this.hasTime()) return true;
    this.notifyInTurn(source, kind);
    return false;
  }

  /** Calls `source` once, as soon as it may start a piece. Sources take turns. */
  notifyInTurn(source: () => void, kind: PieceKind = 'starting'): void {
    this.#sources[kind].add(source);
    if (this.#startedAtMs === undefined) this.#beginRound();
  }

  onConnection(): void {
    this.#newConnections += 1;
  }

  #beginRound(): number {
    this.#startedAtMs = performance.now();
    setImmediate(() => this.#endRound());
    return this.#startedAtMs;
  }

  #endRound(): void {
    if (this.#mustRest()) {
      this.#restRounds = (this.#restRounds ?? -1) + 1;
      this.#newConnections = 0;
      setImmediate(() => this.#endRound());
      return;
    }
    this.#restRounds = undefined;
    this.#startedAtMs = undefined;
    if (this.#sources.ending.size > 0 || this.#sources.starting.size > 0) this.#startWaiting();
  }

  /** Whether the next round only accepts connections and reads: after a long round, until no connection is new. */
  #mustRest(): boolean {
    if (this.#restRounds !== undefined) return this.#newConnections > 0 && this.#restRounds < maxRestRounds;
    return this.#startedAtMs !== undefined && performance.now() - this.#startedAtMs >= maxRoundMs;
  }

  readonly #onMeasured = (): void => {
    this.#unmeasuredNodes = 0;
    this.#startWaiting();
  };

  #startWaiting(): void {
    for (const sources of [this.#sources.ending, this.#sources.starting]) {
      for (const source of sources) {
        if (!this.hasTime()) return;
        sources.delete(source);
        source();
      }
    }
  }
}

/** The budget of this thread's event loop. */
export const loopBudget = new LoopBudget();

/**
 * The largest response or request body, in bytes, whose processing may be deferred. A larger one would evict the others
 * from the processor's caches. Deferred bodies also count towards no memory limit.
 */
export const maxDeferredBytes = 16_384;

/**
 * A function that defers steps to the end of the event-loop round, after all ready connections are read.
 * Deferred steps run one after the other, so their code stays in the processor's caches
 * (docs/design/how-it-stays-fast.md#small-steps-together).
 */
export function createDefer() {
  let steps: (() => void)[] = [];

  function runSteps(): void {
    const currentSteps = steps;
    // Steps deferred from here on run in the next round.
    steps = [];
    for (const step of currentSteps) step();
  }

  /** Runs a step after all steps deferred earlier. Steps must not throw. */
  return (step: () => void): void => {
    if (steps.length === 0) setImmediate(runSteps);
    steps.push(step);
  };
}

/**
 * A function that defers steps until all promise callbacks that are ready have run. An operation that is refused ends in
 * these callbacks, so a step can still find out that nobody needs it.
 */
export function createDeferAfterPromises() {
  let steps: (() => void)[] = [];

  function runSteps(): void {
    const currentSteps = steps;
    steps = [];
    for (const step of currentSteps) step();
  }

  /** Runs a step after all steps deferred earlier. Steps must not throw. */
  return (step: () => void): void => {
    // Node runs a tick that a microtask queues after all microtasks.
    if (steps.length === 0) queueMicrotask(() => process.nextTick(runSteps));
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

/** Whether a piece of work brings an operation to its end, or starts one or a further part of it. */
export type PieceKind = 'starting' | 'ending';

/**
 * Bounds the work that starts in one round of the event loop. After 10 ms of work no further piece starts, and the event
 * loop accepts new connections and reads from the others first
 * (docs/design/how-the-server-is-shared.md#light-and-heavy).
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

  /** Counts a piece that starts. Most of its work runs in promises: until then, its nodes stand for its time. */
  start(nodes: number): void {
    // Node runs a tick that a microtask queues after all microtasks.
    if (this.#unmeasuredNodes === 0) queueMicrotask(() => process.nextTick(this.#onMeasured));
    this.#unmeasuredNodes += Math.max(nodes, minNodes);
  }

  /** Whether a piece of work may start now. Otherwise calls `source` once, in turn, as soon as a piece may start. */
  hasTimeFor(source: () => void, kind: PieceKind = 'starting'): boolean {
    const hasTime = this.hasTime();
    if (!hasTime) this.#sources[kind].add(source);
    return hasTime;
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
    this.#startWaiting();
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

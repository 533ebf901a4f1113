import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { Answer } from './answer.ts';

/** Takes the answers of a watch. */
export interface Watcher {
  /** That of its client, for whom a look may run. */
  readonly response: ServerResponse;
  take(answer: Answer): void;
}

/** The outcome of a look: an answer, or the milliseconds until the token may have points and slots again. */
export type LookResult = Answer | number;

/** What a look needs of its watch. */
export interface Look {
  /** One of those who watch. */
  readonly watcher: Watcher;
  /** Calls the listener when nobody watches any more. */
  onAbort(listener: (reason: unknown) => void): void;
}

export interface WatchOptions {
  readonly tenant: Tenant;
  /** Runs the operation once. Never rejects. */
  readonly look: (look: Look) => Promise<LookResult>;
  readonly clock: Clock;
  readonly pace: Pace;
  /** Called for each look that has ended. */
  onLook(outcome: LookOutcome): void;
  /** That of the token: none of its watches looks on a tick before then, by the clock. */
  readonly pause: { untilMs: number };
}

export type LookOutcome = 'changed' | 'same' | 'failed' | 'waited' | 'left';

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
}

/** The shortest and the longest time between the starts of two looks, in milliseconds. */
export interface Pace {
  minMs: number;
  maxMs: number;
}

/** An interval ends up to this part of itself early, so that watches which began together drift apart. */
const jitter = 0.15;

/** While a failure may pass, the time between two looks is at most so many times the shortest one. */
const maxFailureFactor = 4;

/** REST may ask for a day. One look then asks again. */
const maxPauseMs = 60_000;

const nobodyWatches = new Error('Nobody watches any more');

/**
 * One operation of one token, and all who watch it. Each look runs the operation and serves all of them. While answers
 * are equal, the time between two looks doubles. A change or a write of the token makes it the shortest again.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #watchers = new Set<Watcher>();
  /** Those who came since the latest look has started. Its answer may be older than they are. */
  readonly #newcomers = new Set<Watcher>();
  #intervalMs: number;
  #dueAtMs = 0;
  #lastKey: string | undefined;
  /** The tenant's writes at the start of the latest look. */
  #writes: number;
  /** Ends the running look. Undefined while none runs. */
  #abort: (() => void) | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#intervalMs = options.pace.minMs;
    this.#writes = options.tenant.writes;
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0 && this.#newcomers.size === 0;
  }

  /** Adds a watcher, whose first answer is that of a look from now on. */
  join(watcher: Watcher): void {
    this.#newcomers.add(watcher);
    this.#lookForNewcomers();
  }

  /** Removes a watcher. Without watchers, the running look ends at once. */
  leave(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.#newcomers.delete(watcher);
    if (this.isEmpty) this.#abort?.();
  }

  /** Looks if a look is due, or if the token has written since the latest one. */
  onTick(): void {
    if (this.#abort !== undefined) return;
    const { clock, pace, pause, tenant } = this.#options;
    if (clock.now() < pause.untilMs) return;
    const hasWritten = tenant.writes !== this.#writes;
    if (hasWritten) this.#intervalMs = pace.minMs;
    // The first look starts between two ticks, so the next one is due between two, and starts at the nearer one.
    const isDue = clock.now() >= this.#dueAtMs - pace.minMs / 2;
    if (isDue || hasWritten) void this.#look(!hasWritten);
  }

  #lookForNewcomers(): void {
    if (this.#abort === undefined && this.#newcomers.size > 0) void this.#look(false);
  }

  /** @param isScheduled false if a newcomer or a write is the reason: an equal answer then slows nothing down */
  async #look(isScheduled: boolean): Promise<void> {
    const { clock, tenant, onLook, look } = this.#options;
    const startedAtMs = clock.now();
    this.#writes = tenant.writes;
    for (const watcher of this.#newcomers) this.#watchers.add(watcher);
    this.#newcomers.clear();
    const abortListeners: ((reason: unknown) => void)[] = [];
    const [watcher] = this.#watchers;
    if (watcher === undefined) return;
    this.#abort = () => {
      for (const listener of abortListeners.splice(0)) listener(nobodyWatches);
    };
    const result = await look({ watcher, onAbort: (listener) => abortListeners.push(listener) });
    this.#abort = undefined;
    if (this.#watchers.size === 0) onLook('left');
    else if (typeof result === 'number') this.#wait(result);
    else this.#deliver(result, startedAtMs, isScheduled);
    this.#lookForNewcomers();
  }

  #wait(ms: number): void {
    this.#options.onLook('waited');
    this.#dueAtMs = 0;
    this.#pauseFor(ms);
  }

  #pauseFor(ms: number): void {
    const { clock, pause } = this.#options;
    pause.untilMs = Math.max(pause.untilMs, clock.now() + Math.min(ms, maxPauseMs));
  }

  #deliver(answer: Answer, startedAtMs: number, isScheduled: boolean): void {
    const { clock, pace, onLook } = this.#options;
    const hasChanged = answer.key !== this.#lastKey;
    this.#lastKey = answer.key;
    if (hasChanged) this.#intervalMs = pace.minMs;
    const isSlower = answer.isRateLimited || (isScheduled && !hasChanged);
    if (isSlower) this.#intervalMs = Math.min(2 * this.#intervalMs, pace.maxMs);
    // Clients that show an error wait for its end. A limit of the rate ends by fewer calls.
    if (answer.mayRecover && !answer.isRateLimited)
      this.#intervalMs = Math.min(this.#intervalMs, maxFailureFactor * pace.minMs);
    const intervalMs = Math.max(pace.minMs, this.#intervalMs * (1 - jitter * clock.random()));
    this.#dueAtMs = startedAtMs + intervalMs;
    const pauseMs = answer.retryAfterMs ?? (answer.isRateLimited ? intervalMs : undefined);
    if (pauseMs !== undefined) this.#pauseFor(pauseMs);
    onLook(answer.errors === undefined ? (hasChanged ? 'changed' : 'same') : 'failed');
    for (const watcher of this.#watchers) watcher.take(answer);
  }
}

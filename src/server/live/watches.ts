import { PerTenant, type Tenant } from '../../tenancy/tenant.ts';
import { type Clock, type LookOutcome, type Pace, Watch, type Watcher, type WatchOptions } from './watch.ts';

/** The longest time between two looks that see the same. */
const maxIntervalMs = 30_000;

export interface WatchesOptions {
  /** The shortest time between two looks of a watch, and the time between two ticks. */
  intervalMs: number;
  clock: Clock;
  onLook(outcome: LookOutcome): void;
}

/** The watches of this process. All are due on one tick, which runs only while somebody watches. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #pace: Pace;
  readonly #watches = new Map<string, Watch>();
  /** When the watches of a token may look again. */
  readonly #pauses = new PerTenant<{ untilMs: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchesOptions) {
    this.#options = options;
    const { intervalMs } = options;
    this.#pace = { minMs: intervalMs, maxMs: Math.max(intervalMs, maxIntervalMs) };
  }

  get size(): number {
    return this.#watches.size;
  }

  /**
   * Joins the watch of a tenant and a key, or begins it.
   * @param key equal for equal operations
   * @returns a function that leaves the watch. Its second call does nothing.
   */
  join(tenant: Tenant, key: string, look: WatchOptions['look'], watcher: Watcher): () => void {
    const wholeKey = `${tenant.id} ${key}`;
    const watch = this.#watches.get(wholeKey) ?? this.#begin(wholeKey, tenant, look);
    watch.join(watcher);
    return () => {
      watch.leave(watcher);
      if (!watch.isEmpty || this.#watches.get(wholeKey) !== watch) return;
      this.#watches.delete(wholeKey);
      if (this.#watches.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Lets each watch look that is due. */
  tick(): void {
    for (const watch of this.#watches.values()) watch.onTick();
  }

  #begin(key: string, tenant: Tenant, look: WatchOptions['look']): Watch {
    const { clock, onLook, intervalMs } = this.#options;
    const pause = this.#pauses.of(tenant, () => ({ untilMs: 0 }));
    const watch = new Watch({ tenant, look, clock, pace: this.#pace, onLook, pause });
    this.#watches.set(key, watch);
    this.#timer ??= setInterval(() => this.tick(), intervalMs).unref();
    return watch;
  }
}

import type { Caller } from '../rest/caller.ts';
import type { LedgerEntry } from '../rest/ledger.ts';
import type { Askers } from './askers.ts';
import type { CallTimesSeen } from './call-times.ts';
import { nullOrError, type Settled, settledAll } from './settling.ts';

/** A get under way. */
export interface BegunGet<Json> {
  answer: Promise<Settled<Json>>;
  /** When its turn came, by the clock of `performance`; undefined while it waits for that. */
  leftAt(): number | undefined;
}

/** The gets of one batch: each name that has been begun is asked for once, however often its record is wanted. */
export interface Gets<Json> {
  /** Asks for a record before it is known which others are to be asked for. */
  begin(name: string): BegunGet<Json>;
  /** What the gets of these names answer, in their order. */
  all(names: readonly string[]): Promise<Settled<Json>[]>;
  /** How many have been made so far. */
  count(): number;
}

export interface GetsOptions<Json> {
  get(name: string, caller: Caller): Promise<Json>;
  caller: Caller;
  askers: Askers;
  /** Learns how long gets take, from when they have left. */
  times: CallTimesSeen;
}

export function createGets<Json>(options: GetsOptions<Json>): Gets<Json> {
  return new BatchGets(options);
}

class BatchGets<Json> implements Gets<Json> {
  readonly #options: GetsOptions<Json>;
  /** Most batches are only asked for as a whole. */
  #begun: Map<string, BegunGet<Json>> | undefined;
  #count = 0;
  #answered = 0;
  #answeredMs = 0;

  constructor(options: GetsOptions<Json>) {
    this.#options = options;
  }

  begin(name: string): BegunGet<Json> {
    const known = this.#begun?.get(name);
    if (known !== undefined) return known;
    let leftAt: number | undefined;
    const left = () => {
      leftAt = performance.now();
    };
    const caller: Caller = { ...this.#options.caller, heard: this.#heard, left };
    const get = () => this.#options.get(name, caller);
    const made: BegunGet<Json> = { answer: this.#ask(name, get).catch(nullOrError), leftAt: () => leftAt };
    this.#begun ??= new Map();
    this.#begun.set(name, made);
    return made;
  }

  all(names: readonly string[]): Promise<Settled<Json>[]> {
    const caller: Caller = { ...this.#options.caller, heard: this.#heard };
    const get = (name: string) => this.#options.get(name, caller);
    const ask = (name: string) => this.#begun?.get(name)?.answer ?? this.#ask(name, get);
    return settledAll<Json>(names, ask).then((answers) => {
      if (this.#answered > 0) this.#options.times.sawGet(this.#answeredMs / this.#answered);
      this.#answered = 0;
      this.#answeredMs = 0;
      return answers;
    });
  }

  count(): number {
    return this.#count;
  }

  #ask(name: string, get: (name: string) => Promise<Json>): Promise<Json> {
    this.#count += 1;
    return this.#options.askers.onBehalfOf(name, get);
  }

  readonly #heard = (entry: LedgerEntry): void => {
    this.#options.caller.heard(entry);
    // A call that has failed says nothing about how long one takes.
    if (entry.status === undefined || entry.status >= 500 || entry.durationMs === undefined) return;
    this.#answered += 1;
    this.#answeredMs += entry.durationMs;
  };
}

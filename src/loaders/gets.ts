import type { Caller } from '../rest/caller.ts';
import type { LedgerEntry } from '../rest/ledger.ts';
import type { Askers } from './askers.ts';
import type { CallTimesSeen } from './call-times.ts';
import { nullOrError } from './record-loader.ts';

/** A get under way. */
export interface BegunGet<Json> {
  answer: Promise<Json | null | Error>;
  /** When its turn came, by the clock of `performance`; undefined while it waits for that. */
  leftAt(): number | undefined;
}

/** The gets of one batch: each name is asked for at most once, however often its record is wanted. */
export interface Gets<Json> {
  begin(name: string): BegunGet<Json>;
  all(names: readonly string[]): Promise<Map<string, Json | null | Error>>;
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

export function createGets<Json>({ get, caller, askers, times }: GetsOptions<Json>): Gets<Json> {
  const begun = new Map<string, BegunGet<Json>>();
  let answeredMs: number[] = [];

  function heard(entry: LedgerEntry): void {
    caller.heard(entry);
    // A call that has failed says nothing about how long one takes.
    const isAnswered = entry.status !== undefined && entry.status < 500;
    if (isAnswered && entry.durationMs !== undefined) answeredMs.push(entry.durationMs);
  }

  function begin(name: string): BegunGet<Json> {
    const known = begun.get(name);
    if (known !== undefined) return known;
    let leftAt: number | undefined;
    const left = () => {
      leftAt = performance.now();
    };
    const ask = () => get(name, { ...caller, heard, left });
    const made: BegunGet<Json> = {
      answer: nullOrError(askers.onBehalf([name], ask)),
      leftAt: () => leftAt,
    };
    begun.set(name, made);
    return made;
  }

  return {
    begin,
    count: () => begun.size,
    async all(names) {
      for (const name of names) begin(name);
      const answers = new Map<string, Json | null | Error>();
      // One after the other, as all are on their way and none rejects.
      for (const name of names) answers.set(name, await begin(name).answer);
      if (answeredMs.length > 0)
        times.sawGet(answeredMs.reduce((sum, ms) => sum + ms, 0) / answeredMs.length);
      answeredMs = [];
      return answers;
    },
  };
}

import type { CallContext } from '../../rest/client/call-context.ts';
import type { FieldPathLog } from '../field-path-log.ts';
import { type Settled, settledAll } from '../result.ts';
import type { CallTimes } from './planner.ts';

export interface PointReadsOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  callContext: CallContext;
  fieldPaths: FieldPathLog;
  /** Learns how long gets take once they have left their queue. */
  times: CallTimes;
}

/** The gets of one batch. A record that was begun to be asked for is not asked for again. */
export class PointReads<Json> {
  /** How many have been made. */
  count = 0;
  readonly #options: PointReadsOptions<Json>;
  /** Most batches are only asked for as a whole. */
  #begun: Map<string, Promise<Settled<Json>>> | undefined;

  constructor(options: PointReadsOptions<Json>) {
    this.#options = options;
  }

  /** Asks for one record before it is known which others are to be asked for. Never rejects. */
  begin(name: string): Promise<Settled<Json>> {
    const answer = this.#begun?.get(name) ?? this.all([name]).then(([answer]) => answer ?? null);
    this.#begun ??= new Map();
    this.#begun.set(name, answer);
    return answer;
  }

  /** Asks for the records of these names, and answers in their order. Never rejects. */
  async all(names: readonly string[]): Promise<Settled<Json>[]> {
    const { get, callContext, fieldPaths, times } = this.#options;
    let timed = 0;
    let timedMs = 0;
    const observedContext: CallContext = {
      ...callContext,
      onCallFinished(entry) {
        callContext.onCallFinished(entry);
        // A failed call does not say how long one takes.
        if (entry.status === undefined || entry.status >= 500 || entry.durationMs === undefined) return;
        timed += 1;
        timedMs += entry.durationMs;
      },
    };
    const ask = (name: string) => {
      this.count += 1;
      return get(name, observedContext);
    };
    const answers = await settledAll<Json>(
      names,
      (name) => this.#begun?.get(name) ?? fieldPaths.runForKey(name, ask),
    );
    if (timed > 0) times.sawGet(timedMs / timed);
    return answers;
  }
}

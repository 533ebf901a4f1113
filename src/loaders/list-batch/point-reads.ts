import type { CallContext } from '../../rest/client/call-context.ts';
import type { FieldPathLog } from '../field-path-log.ts';
import { type RecordResult, settleAll } from '../result.ts';
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
  #startedByName: Map<string, Promise<RecordResult<Json>>> | undefined;

  constructor(options: PointReadsOptions<Json>) {
    this.#options = options;
  }

  /** Asks for one record before it is known which others are to be asked for. Never rejects. */
  start(name: string): Promise<RecordResult<Json>> {
    const result = this.#startedByName?.get(name) ?? this.all([name]).then(([result]) => result ?? null);
    this.#startedByName ??= new Map();
    this.#startedByName.set(name, result);
    return result;
  }

  /** Asks for the records of these names, and answers in their order. Never rejects. */
  async all(names: readonly string[]): Promise<RecordResult<Json>[]> {
    const { get, callContext, fieldPaths, times } = this.#options;
    let timedCount = 0;
    let totalMs = 0;
    const observedContext: CallContext = {
      ...callContext,
      onCallFinished(entry) {
        callContext.onCallFinished(entry);
        // A failed call does not say how long one takes.
        if (entry.status === undefined || entry.status >= 500 || entry.durationMs === undefined) return;
        timedCount += 1;
        totalMs += entry.durationMs;
      },
    };
    const read = (name: string) => {
      this.count += 1;
      return get(name, observedContext);
    };
    const results = await settleAll<Json>(
      names,
      (name) => this.#startedByName?.get(name) ?? fieldPaths.runForKey(name, read),
    );
    if (timedCount > 0) times.observeGet(totalMs / timedCount);
    return results;
  }
}

/** Step 3 of a list batch: sends one GET for each id that the list pages did not hold. */

import type { CallContext } from '../../rest/client/call-context.ts';
import type { FieldPathLog } from '../../rest/client/field-path.ts';
import { type RecordResult, settleAll } from '../record-loader.ts';
import type { CallTimes } from './planner.ts';

/** The GET endpoint and the context of the calls of one batch. */
export interface PointReadsOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  callContext: CallContext;
  fieldPaths: FieldPathLog;
  /** Records how long GETs take after they were sent. */
  times: CallTimes;
}

/** The GETs of one batch. A record requested by `start` is not requested again. */
export class PointReads<Json> {
  /** The number of GETs made. */
  count = 0;
  readonly #options: PointReadsOptions<Json>;
  /** Undefined until the first `start`, because most batches only use `all`. */
  #startedByName: Map<string, Promise<RecordResult<Json>>> | undefined;

  constructor(options: PointReadsOptions<Json>) {
    this.#options = options;
  }

  /** Requests one record before the other names are known. Never rejects. */
  start(name: string): Promise<RecordResult<Json>> {
    const result = this.#startedByName?.get(name) ?? this.all([name]).then(([result]) => result ?? null);
    this.#startedByName ??= new Map();
    this.#startedByName.set(name, result);
    return result;
  }

  /** Requests the records of these names. The results have the order of the names. Never rejects. */
  async all(names: readonly string[]): Promise<RecordResult<Json>[]> {
    const { get, callContext, fieldPaths, times } = this.#options;
    let timedCount = 0;
    let totalMs = 0;
    const observedContext: CallContext = {
      ...callContext,
      onCallFinished(entry) {
        callContext.onCallFinished(entry);
        // A failed call does not show how long a GET takes.
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

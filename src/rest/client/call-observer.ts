import type { CallLog, CallLogEntry } from './call-log.ts';

/** Observes every REST call, for metrics and traces. An error that an observer throws is ignored. */
export interface CallObserver {
  /**
   * Called when a call has a slot and is about to be sent. `callLog`: the call log of the operation that sends the
   * call.
   * @returns headers to add to the request, if any.
   */
  onCallSent(entry: CallLogEntry, callLog: CallLog): Readonly<Record<string, string>> | undefined;
  /** Called when the call has finished and its entry is complete. A stream counts as finished at the first byte. */
  onCallFinished(entry: CallLogEntry, callLog: CallLog): void;
}

/** Combines observers into one. @returns undefined if there are no observers. */
export function observeAll(observers: readonly CallObserver[]): CallObserver | undefined {
  const [first, ...others] = observers;
  if (first === undefined || others.length === 0) return first;
  return {
    onCallSent(entry, callLog) {
      let headers: Record<string, string> | undefined;
      for (const observer of observers) {
        const added = observer.onCallSent(entry, callLog);
        if (added !== undefined) headers = { ...headers, ...added };
      }
      return headers;
    },
    onCallFinished(entry, callLog) {
      for (const observer of observers) observer.onCallFinished(entry, callLog);
    },
  };
}

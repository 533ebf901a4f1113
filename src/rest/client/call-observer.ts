import type { CallLog, CallLogEntry } from './call-log.ts';

/** Is told of every call that is made, for metrics and traces. What it throws is lost, and changes nothing of the call. */
export interface CallObserver {
  /**
   * A call has left its queue, on the account of `ledger`. What is returned is sent along as headers; undefined where
   * nothing is.
   */
  onCallSent(entry: CallLogEntry, callLog: CallLog): Readonly<Record<string, string>> | undefined;
  /** It has ended, and its entry says how. A stream ends here with its first byte. */
  onCallFinished(entry: CallLogEntry, callLog: CallLog): void;
}

/** Tells several observers, each of which may add headers; undefined where there are none. */
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

import type { Ledger, LedgerEntry } from './call-log.ts';

/** Is told of every call that is made, for metrics and traces. What it throws is lost, and changes nothing of the call. */
export interface CallObserver {
  /**
   * A call has left its queue, on the account of `ledger`. What is returned is sent along as headers; undefined where
   * nothing is.
   */
  left(entry: LedgerEntry, ledger: Ledger): Readonly<Record<string, string>> | undefined;
  /** It has ended, and its entry says how. A stream ends here with its first byte. */
  ended(entry: LedgerEntry, ledger: Ledger): void;
}

/** Tells several observers, each of which may add headers; undefined where there are none. */
export function toldToAll(observers: readonly CallObserver[]): CallObserver | undefined {
  const [first, ...others] = observers;
  if (first === undefined || others.length === 0) return first;
  return {
    left(entry, ledger) {
      let headers: Record<string, string> | undefined;
      for (const observer of observers) {
        const added = observer.left(entry, ledger);
        if (added !== undefined) headers = { ...headers, ...added };
      }
      return headers;
    },
    ended(entry, ledger) {
      for (const observer of observers) observer.ended(entry, ledger);
    },
  };
}

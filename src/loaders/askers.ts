import { type Asker, asking } from '../rest/asking.ts';

/** Remembers which fields have asked a loader for what, also those that ask once the call for it has been made. */
export interface Askers {
  note(key: string): void;
  /** Makes the call that answers these keys, on behalf of all who have asked for them and who still will. */
  onBehalf<Answer>(keys: readonly string[], call: () => Answer): Answer;
  /** Who asks for this key from now on, or for any where none is given, asks for another call. */
  forget(key?: string): void;
}

export function createAskers(): Askers {
  const askersByKey = new Map<string, Set<Asker>>();
  return {
    note(key) {
      const asker = asking.getStore();
      if (asker === undefined) return;
      const known = askersByKey.get(key) ?? new Set();
      askersByKey.set(key, known.add(asker));
    },
    onBehalf(keys, call) {
      if (askersByKey.size === 0) return call();
      const askers = keys.flatMap((key) => askersByKey.get(key) ?? []);
      return asking.run(new Set(askers), call);
    },
    forget(key) {
      if (key === undefined) askersByKey.clear();
      else askersByKey.delete(key);
    },
  };
}

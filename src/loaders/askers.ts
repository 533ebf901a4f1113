import { asking } from '../rest/asking.ts';

/** Remembers which fields have asked a loader for what, until the call for it is made in a batch with others. */
export interface Askers {
  note(key: string): void;
  /** Makes the call that answers these keys, on behalf of all who have asked for them. */
  onBehalf<Answer>(keys: readonly string[], call: () => Answer): Answer;
}

export function createAskers(): Askers {
  const pathsByKey = new Map<string, Set<string>>();
  return {
    note(key) {
      const paths = asking.getStore();
      if (paths === undefined) return;
      const known = pathsByKey.get(key) ?? new Set();
      for (const path of paths) known.add(path);
      pathsByKey.set(key, known);
    },
    onBehalf(keys, call) {
      if (pathsByKey.size === 0) return call();
      const paths = new Set(keys.flatMap((key) => [...(pathsByKey.get(key) ?? [])]));
      return asking.run([...paths], call);
    },
  };
}

import { type Claim, ClaimLostError } from './key-store.ts';
import type { Change } from './postgres-table.ts';

/** A change whose caller waits. */
interface WaitingChange extends PromiseWithResolvers<void> {
  change: Change;
}

/**
 * Collects the changes of claimed keys. Those of one moment share a transaction, and so one wait for the disk and the
 * standby. Ends of claims that fail are tried again.
 * @param execute runs changes, each of another key, in one transaction. Returns the indexes of those that were done: the
 * claims of the others are lost.
 * @param expectOpen throws if the store takes no changes. Ends that failed are tried even then.
 */
export function createChanges(
  execute: (changes: readonly Change[]) => Promise<Set<number>>,
  expectOpen: () => void,
) {
  let waiting = new Map<string, WaitingChange>();
  const running = new Set<Promise<void>>();
  /** By the owners of the claims. */
  const failedEndings = new Map<string, Change>();

  function send(): void {
    const all = [...waiting.values()];
    waiting = new Map();
    if (all.length === 0) return;
    const sent = sendAll(all).finally(() => running.delete(sent));
    running.add(sent);
  }

  async function sendAll(all: readonly WaitingChange[]): Promise<void> {
    try {
      expectOpen();
      const done = await execute(all.map(({ change }) => change));
      for (const [index, { resolve, reject }] of all.entries())
        if (done.has(index)) resolve();
        else reject(new ClaimLostError());
    } catch (error) {
      for (const { change, reject } of all) {
        if (isEnding(change)) failedEndings.set(change.claim.owner, change);
        reject(error);
      }
    }
  }

  return {
    /** @throws ClaimLostError and the errors of `execute` */
    add(kind: Change['kind'], claim: Claim, value?: unknown): Promise<void> {
      const json = JSON.stringify(value) ?? (kind === 'finish' ? 'null' : null);
      const one = { ...Promise.withResolvers<void>(), change: { kind, claim, value: json } };
      const name = `${claim.key.merchant} ${claim.key.id}`;
      // A statement changes a row once.
      if (waiting.has(name)) send();
      if (waiting.size === 0) process.nextTick(send);
      waiting.set(name, one);
      return one.promise;
    },
    /** Tries the failed ends again. An end that finds its claim lost was done before, or is in vain. */
    async retry(): Promise<void> {
      const endings = [...failedEndings.values()];
      if (endings.length === 0) return;
      await execute(endings);
      for (const { claim } of endings) failedEndings.delete(claim.owner);
    },
    /** Waits for all changes so far. */
    async settled(): Promise<void> {
      send();
      await Promise.all(running);
    },
  };
}

function isEnding({ kind }: Change): boolean {
  return kind === 'finish' || kind === 'abandon' || kind === 'release';
}

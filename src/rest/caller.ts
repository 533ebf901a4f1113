import pLimit from 'p-limit';
import { isRead, type RestCall } from './call.ts';
import { BudgetExceededError } from './errors.ts';
import { createFairQueue } from './fair-queue.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createTenants, type Tenant, type Tenants } from './tenant.ts';

/** On whose behalf calls are made, until when, how many, and what they cost. One per GraphQL operation. */
export interface Caller {
  /** The access token, passed through as it came. */
  readonly bearer: string;
  /** Who that is, to all that outlives the operation. */
  readonly tenant: Tenant;
  readonly signal: AbortSignal;
  readonly ledger: Ledger;
  /** How many of its calls are under way at a time at most. */
  readonly callsPerOperation: number;
  /** Runs a call when its turn has come, among those of this operation and among all tenants'. */
  schedule<Answer>(call: RestCall, make: () => Promise<Answer>): Promise<Answer>;
  /**
   * Takes a read from the operation's budget. Writes cost nothing of it, so that a list of them is not cut short in the
   * middle; the reads that one needs do, and where none is left it is not begun.
   * @throws BudgetExceededError where none is left.
   */
  spend(call: RestCall): void;
  /** How many reads it may still make. */
  readsLeft(): number;
}

/** Makes the callers of this process. */
export interface Callers {
  of(bearer: string, signal: AbortSignal): Caller;
}

export interface CallersOptions {
  /** How many calls of one operation are under way at a time at most. */
  callsPerOperation: number;
  /** How many reads one operation may make; 250 when left out. */
  readsPerOperation?: number;
  /** How many calls of all operations are under way at a time at most; 64 when left out. */
  callsAtOnce?: number;
  tenants?: Tenants;
}

export function createCallers({
  callsPerOperation,
  readsPerOperation = 250,
  callsAtOnce = 64,
  tenants = createTenants(),
}: CallersOptions): Callers {
  const queue = createFairQueue(callsAtOnce);
  return {
    of(bearer, signal) {
      const tenant = tenants.of(bearer);
      const limit = pLimit(callsPerOperation);
      let left = readsPerOperation;
      return {
        bearer,
        tenant,
        signal,
        ledger: createLedger(),
        callsPerOperation,
        schedule: (call, make) => limit(() => queue.run(tenant, isRead(call) ? 'read' : 'write', make)),
        spend(call) {
          if (left === 0) throw new BudgetExceededError(call, readsPerOperation);
          left -= 1;
        },
        readsLeft: () => left,
      };
    },
  };
}

import type { OrderQuery } from '../rest/types.ts';
import type { Following } from './batch-plan.ts';
import { createDepths } from './depths.ts';

/** What earlier lists of orders of one kind were followed by, for one tenant. */
export interface FollowingSeen {
  /** Undefined until it has been seen in which rows of their own list the records are that follow. */
  expected(): Following | undefined;
  /** A page of so many rows at most has named so many records. */
  sawNames(rows: number, names: number): void;
  /** Of those, so many were asked for, and these rows of their own list had them. */
  sawFound(asked: number, indices: readonly number[]): void;
}

/** Of one tenant: each kind of list apart, as new orders are followed by other shipments than returned ones. */
export interface FollowingHistory {
  of(query: OrderQuery): FollowingSeen;
}

// What is older than some ten lists hardly counts, as each list is of another day.
const decay = 0.8;
// There are few kinds, but a client may combine statuses as it likes.
const maxKinds = 50;

export function createFollowingHistory(): FollowingHistory {
  // In the order in which they were last asked for.
  const kinds = new Map<string, FollowingSeen>();
  return {
    of(query) {
      const kind = kindOf(query);
      const seen = kinds.get(kind) ?? createFollowingSeen();
      kinds.delete(kind);
      kinds.set(kind, seen);
      const [oldest] = kinds.keys();
      if (kinds.size > maxKinds && oldest !== undefined) kinds.delete(oldest);
      return seen;
    },
  };
}

/** Never what is searched for, which may be a person's name or number. */
function kindOf({ status = [], search }: OrderQuery): string {
  return `${status.join()} ${search !== undefined}`;
}

function createFollowingSeen(): FollowingSeen {
  const depths = createDepths();
  let isFound = false;
  let rowCount = 0;
  let nameCount = 0;
  return {
    expected: () =>
      isFound && rowCount > 0
        ? { idsPerRow: nameCount / rowCount, shareWithin: depths.shareWithin }
        : undefined,
    sawNames(rows, names) {
      rowCount = rowCount * decay + rows;
      nameCount = nameCount * decay + names;
    },
    sawFound(asked, indices) {
      isFound = true;
      depths.saw(asked, indices);
    },
  };
}

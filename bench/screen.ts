import type { RecipientJson } from '../src/rest/types.ts';
import type { Rest } from './rest.ts';

/** What somebody looks at: a query, and the same data by a hand-written client that makes the fewest calls it can. */
export interface Screen {
  name: string;
  query: string;
  variables?: Record<string, unknown>;
  /** The `data` that the query answers, field by field. */
  byRest(rest: Rest): Promise<unknown>;
}

export function fullName({ firstName, lastName }: RecipientJson): string {
  return `${firstName} ${lastName}`.trim();
}

/** `{ code }` for `couriers/{code}`. */
export function courierOf({ courier }: { courier?: string }): { code: string } | null {
  return courier === undefined ? null : { code: courier.slice('couriers/'.length) };
}

/** `{ url }`, or null where there is no label yet. */
export function labelOf({ label, labelUrl }: { label?: string; labelUrl?: string }): object | null {
  return label === undefined ? null : { url: labelUrl };
}

import type { ServerResponse } from 'node:http';
import type { Quirks } from '../faults/quirks.ts';
import type { Clock } from '../store/clock.ts';

/** Gives an answer the time of the sandbox's clock, or none. Node would give it the machine's. */
export function setDate(answer: ServerResponse, { hasDate, dateOffsetMs }: Quirks, clock: Clock): void {
  answer.sendDate = false;
  if (!hasDate) return;
  answer.setHeader('date', new Date(clock.now().getTime() + dateOffsetMs).toUTCString());
}

/** The payload of a list page without the fields that its rows lack. Every other payload stays as it is. */
export function withoutLackingFields(payload: unknown, rowsLack: Quirks['rowsLack']): unknown {
  if (typeof payload !== 'string' || Object.keys(rowsLack).length === 0) return payload;
  const answer: Record<string, unknown> = JSON.parse(payload);
  for (const [list, fields = []] of Object.entries(rowsLack)) {
    const rows = answer[list];
    if (!Array.isArray(rows)) continue;
    for (const row of rows) for (const field of fields) delete row[field];
  }
  return JSON.stringify(answer);
}

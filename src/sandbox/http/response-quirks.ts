import type { ServerResponse } from 'node:http';
import type { Quirks } from '../faults/quirks.ts';
import type { Clock } from '../store/clock.ts';

/** Sets the `date` header from the sandbox's clock, or omits it. Node would use the machine's clock. */
export function setDate(response: ServerResponse, { hasDate, dateOffsetMs }: Quirks, clock: Clock): void {
  response.sendDate = false;
  if (!hasDate) return;
  response.setHeader('date', new Date(clock.now().getTime() + dateOffsetMs).toUTCString());
}

/** Removes the fields of `rowsLack` from the rows of a page, and changes the token of the last page. */
export function alterPage(payload: unknown, { rowsLack, lastPageToken }: Quirks): unknown {
  const isAltered = Object.keys(rowsLack).length > 0 || lastPageToken !== 'empty';
  if (typeof payload !== 'string' || !payload.startsWith('{') || !isAltered) return payload;
  const response: Record<string, unknown> = JSON.parse(payload);
  if (response.nextPageToken === '' && lastPageToken === 'null') response.nextPageToken = null;
  if (response.nextPageToken === '' && lastPageToken === 'absent') delete response.nextPageToken;
  for (const [list, fields = []] of Object.entries(rowsLack)) {
    const rows = response[list];
    if (!Array.isArray(rows)) continue;
    for (const row of rows) for (const field of fields) delete row[field];
  }
  return JSON.stringify(response);
}

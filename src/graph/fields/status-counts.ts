import type { EnumRef } from '@pothos/core';
import { timeMs } from '../../base/date-time.ts';
import type { ListedKind } from '../../loaders/loading-observer.ts';
import type { StatusCounts } from '../../loaders/scan/count-by-status.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { timeArgs } from './list-filters.ts';
import { nullByError } from './semantic-non-null.ts';

/** The number of records of each status of REST. */
type Numbers = ReadonlyMap<string, number>;

const sum = (counts: Iterable<[string, number]>) =>
  [...counts].reduce((total, [, count]) => total + count, 0);

/**
 * Makes the query `xCounts`, with the types `XCounts` and `XStatusCount`, for the records `X` of a list.
 * @param status the enum of their statuses, and its mapping from REST
 * @returns the type `XCounts`, and the options of fields with the numbers that `read` returns
 */
export function defineStatusCounts(
  typename: string,
  records: ListedKind,
  status: { ref: EnumRef<SchemaTypes, string, string>; recognize(value: string): string },
) {
  const record = typename.toLowerCase();
  const statusCount = builder
    .objectRef<{ status: string; count: number }>(`${typename}StatusCount`)
    .implement({
      description: `The number of ${records} in one status.`,
      fields: (t) => ({
        status: t.expose('status', { type: status.ref, description: 'The status.' }),
        count: t.exposeInt('count', { description: `The number of ${records}.` }),
      }),
    });
  const total = <Source>(description: string, read: (source: Source) => Numbers) => ({
    type: 'Int' as const,
    description,
    resolve: (source: Source) => sum(read(source)),
  });
  const byStatus = <Source>(description: string, read: (source: Source) => Numbers) => ({
    type: [statusCount] as [typeof statusCount],
    description,
    // The number of statuses of a shipment, with UNRECOGNIZED.
    extensions: { estimatedItems: 14 },
    resolve: (source: Source) => {
      // Statuses that this version does not know are one.
      const groups = Map.groupBy(read(source), ([value]) => status.recognize(value));
      return Array.from(groups, ([status, counts]) => ({ status, count: sum(counts) }));
    },
  });
  const statusCounts = builder.objectRef<StatusCounts>(`${typename}Counts`).implement({
    description: `The number of ${records} in each status.`,
    fields: (t) => ({
      total: t.field(total(`The number of ${records} in all statuses.`, (counts) => counts.byStatus)),
      isExact: t.exposeBoolean('isExact', {
        description: 'Whether the whole list was counted. Otherwise each number is a lower bound.',
      }),
      asOf: t.expose('asOf', {
        type: 'DateTime',
        description: 'The time of the count, at most 30 seconds ago.',
      }),
      byStatus: t.field(
        byStatus(
          `The number of ${records} in each status. Statuses without ${records} are omitted.`,
          (counts) => counts.byStatus,
        ),
      ),
    }),
  });
  builder.queryField(`${record}Counts`, (t) =>
    t.field({
      type: statusCounts,
      nullable: true,
      description: `The number of ${records} in each status. Costs up to 20 pages of \`GET /v1/${records}\`. Waybill keeps the counts for up to 30 seconds.`,
      extensions: nullByError,
      args: { createdSince: timeArgs.createdSince },
      resolve: (_root, { createdSince }, { loaders }) => loaders.countByStatus(records, timeMs(createdSince)),
    }),
  );
  return { ref: statusCounts, total, byStatus };
}

import { expect, test } from 'vitest';
import {
  createShop,
  type OrderRow,
  randomNumbers,
  rowsOfSeed,
  type ShipmentRow,
  type Shop,
  sortings,
  startMs,
} from '../../fixtures/shop-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// Set SHOPS for more shops, and SEED for others.
const shops = Number(process.env.SHOPS ?? 12);
const firstSeed = Number(process.env.SEED ?? 20_261_128);

interface Filter {
  /** The arguments of the list. */
  args: string;
  /** A plain filter over all rows. */
  matches(row: OrderRow & ShipmentRow): boolean;
  /** Whether the statuses of the shipments are needed. */
  isJoined?: boolean;
  /** Whether a scan may end before the last page, because later rows are older. */
  hasAge?: boolean;
  /** The statuses of orders that REST filters by. */
  restStatuses?: readonly string[];
}

const isWithin = (time: string | undefined, sinceMs: number, untilMs: number) =>
  time !== undefined && Date.parse(time) >= sinceMs && Date.parse(time) <= untilMs;

/** Some of the filters of a list, chosen at random, with values that fit a shop of so many orders. */
function randomFilter(
  list: 'orders' | 'shipments',
  random: () => number,
  orderCount: number,
  shipments: ReadonlyMap<string, ShipmentRow>,
): Filter {
  const ms = (fraction: number) => Math.round(startMs + fraction * orderCount * 60_000);
  const iso = (atMs: number) => new Date(atMs).toISOString();
  const range = (what: 'created' | 'updated', field: 'createTime' | 'updateTime'): Filter => {
    const sinceMs = ms(random());
    const untilMs = sinceMs + Math.round(random() * orderCount * 60_000);
    return {
      args: `${what}Since: "${iso(sinceMs)}", ${what}Until: "${iso(untilMs)}"`,
      matches: (row) => isWithin(row[field], sinceMs, untilMs),
      hasAge: what === 'created',
    };
  };
  const one = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const wanted = one([['WITH_ERROR'], ['DELIVERED'], ['GENERATING_LABEL', 'RETURN', 'CANCELLED']]);
  const orderStatuses = one([['NEW'], ['READY', 'IN_PROGRESS', 'DELIVERED']]);
  const isShipped = random() < 0.5;
  const courier = one(['condor-veloz', 'couriers/tierra-firme', 'couriers/of-nobody']);
  const all: Record<typeof list, Filter[]> = {
    orders: [
      { args: `hasShipment: ${isShipped}`, matches: ({ shipment }) => Boolean(shipment) === isShipped },
      {
        args: `shipmentStatus: [${wanted}]`,
        matches: ({ shipment = '' }) => wanted.includes(shipments.get(shipment)?.status ?? ''),
        isJoined: true,
      },
      {
        args: `status: [${orderStatuses}]`,
        matches: ({ status }) => orderStatuses.includes(status),
        restStatuses: orderStatuses,
      },
    ],
    shipments: [
      {
        args: `courier: "${courier}"`,
        matches: (row) => row.courier === `couriers/${courier.replace('couriers/', '')}`,
      },
      { args: `status: [${wanted}]`, matches: ({ status }) => wanted.includes(status) },
    ],
  };
  const filters = [...all[list], range('created', 'createTime'), range('updated', 'updateTime')];
  // The first two are the only ones of which each needs no REST filter.
  const chosen = filters.filter(() => random() < 0.4);
  if (!chosen.some(({ args }) => list === 'shipments' || !args.startsWith('status')))
    chosen.push(one(filters.slice(0, 2)));
  // No order is both.
  const isPossible = !(
    chosen.some(({ isJoined }) => isJoined) && chosen.some(({ args }) => args === 'hasShipment: false')
  );
  const used = isPossible ? chosen : chosen.filter(({ isJoined }) => !isJoined);
  return {
    args: used.map(({ args }) => args).join(', '),
    matches: (row) => used.every((filter) => filter.matches(row)),
    isJoined: used.some(({ isJoined }) => isJoined),
    hasAge: used.some(({ hasAge }) => hasAge),
    restStatuses: used.find(({ restStatuses }) => restStatuses)?.restStatuses ?? [],
  };
}

/** The calls of a scan that shows `first` matches from the start of a list. The tokens of pages are left out. */
function callsOfScan(
  list: 'orders' | 'shipments',
  rows: readonly object[],
  { matches, restStatuses = [] }: Filter,
  first: number,
): string[] {
  const statuses = encodeURIComponent(restStatuses.toSorted().join());
  const status = statuses === '' ? '' : `&status=${statuses}`;
  const calls: string[] = [];
  let [end, found] = [0, 0];
  do {
    const pageSize = calls.length > 0 ? 1_000 : Math.min(Math.max(5 * first, 100), 1_000);
    calls.push(`GET /v1/${list}?pageSize=${pageSize}${status}`);
    const page = rows.slice(end, end + pageSize);
    found += page.filter((row) => matches(row as OrderRow & ShipmentRow)).length; // Fields that a row lacks are absent.
    end += pageSize;
  } while (end < rows.length && found < first && calls.length < 20);
  return calls;
}

interface List {
  nodes: ({ id: string } | null)[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

const sorts = Object.keys(sortings) as (keyof typeof sortings)[];
const sizes = [0, 1, 999, 5_000, 12_000];

test.each(Array.from({ length: shops }, (_, index) => firstSeed + index))(
  'a filtered list has exactly the matching rows of the shop with the seed %d',
  async (seed) => {
    const random = randomNumbers(seed);
    const one = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
    const orderCount = one(sizes);
    const sorting = one(sorts);
    const rows = rowsOfSeed({ seed, orderCount, sorting, withoutTimes: one([0, 0.05]) });
    const shop = createShop([...rows.orders], [...rows.shipments]);
    shop.isByUpdateTime = sorting === 'by updateTime';
    const shipments = new Map(rows.shipments.map((row) => [row.name, row]));
    // A few are missing in the list of shipments.
    if (random() < 0.3) for (const row of rows.shipments.slice(10, 13)) shop.unlisted.add(row.name);
    const doRowsChange = random() < 0.3;
    const list = random() < 0.75 ? 'orders' : 'shipments';
    const filter = randomFilter(list, random, orderCount, shipments);
    const first = one([1, 20, 100, 1_000]);
    await using app = await startApp(shop.answer);

    const listed = rows[list].filter(({ name, status }) => {
      const { restStatuses = [] } = filter;
      return !shop.unlisted.has(name) && (restStatuses.length === 0 || restStatuses.includes(status ?? ''));
    });
    const expectedCalls = callsOfScan(list, listed, filter, first);
    const found: (string | undefined)[] = [];
    const faults: object[] = [];
    const changed = new Set<string>();
    let [after, hasNextPage, operations] = ['', true, 0];
    while (hasNextPage && operations < 30) {
      const seen = app.calls().length;
      const { data, errors } = await app.ask(
        `{ list: ${list}(first: ${first}, ${filter.args}${after}) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
      );
      const { nodes, pageInfo } = (data as { list: List }).list; // The document selects these.
      const calls = app.calls().slice(seen);
      const pages = calls.filter((call) => call.includes('?'));
      const gets = calls.length - pages.length;
      operations += 1;
      if (operations === 1 && !filter.isJoined && !filter.hasAge)
        expect(
          calls.map((call) => call.replace(/&pageToken=[^&]+/, '')),
          filter.args,
        ).toEqual(expectedCalls);
      const isBounded = pages.length <= 20 && gets <= 50 && new Set(calls).size === calls.length;
      const isOwn = filter.isJoined === true || calls.every((call) => call.startsWith(`GET /v1/${list}?`));
      const isProgress = nodes.length > 0 || !pageInfo.hasNextPage || pages.length === 20;
      if (errors || !isBounded || !isOwn || !isProgress) faults.push({ calls, errors, pageInfo });
      found.push(...nodes.map((node) => node?.id));
      hasNextPage = pageInfo.hasNextPage;
      after = `, after: "${pageInfo.endCursor}"`;
      if (doRowsChange) changeRows(shop, random, changed);
    }
    // Fields that a row lacks are absent.
    const all = rows[list].filter(
      (row) => !shop.unlisted.has(row.name) && filter.matches(row as OrderRow & ShipmentRow),
    );
    const unchanged = (names: (string | undefined)[]) => names.filter((name = '') => !changed.has(name));
    // A cursor whose next row has moved to the top may repeat rows.
    const shown = shop.isByUpdateTime ? [...new Set(unchanged(found))] : unchanged(found);
    const expected = unchanged(all.map(({ name }) => name)).slice(0, hasNextPage ? shown.length : undefined);
    expect(faults).toEqual([]);
    expect({ args: filter.args, shown }).toEqual({ args: filter.args, shown: expected });
    // One operation reads all pages of both lists, or finds `first` rows.
    const pagesOfBoth = Math.ceil(orderCount / 1_000) * (filter.isJoined ? 2 : 1) + 2;
    expect(operations).toBeLessThanOrEqual(Math.ceil(found.length / first) + Math.ceil(pagesOfBoth / 18) + 1);
  },
);

/** Adds a new order, and changes some orders and shipments, which may move. `changed` gets their names. */
function changeRows(shop: Shop, random: () => number, changed: Set<string>): void {
  // Later than all others.
  const updateTime = new Date(startMs + 1e10 + changed.size).toISOString();
  const change = <Row extends { name: string }>(rows: Row[], changes: Partial<Row>) => {
    const index = Math.floor(random() * rows.length);
    const row = rows[index];
    if (row === undefined) return [];
    rows[index] = { ...row, ...changes };
    changed.add(row.name);
    return [row.name];
  };
  for (let count = 0; count < 20; count += 1) {
    change(shop.orders, { updateTime });
    const [shipment] = change(shop.shipments, { status: 'WITH_ERROR', updateTime });
    if (shipment !== undefined) changed.add(shipment.replace('shipments', 'orders'));
  }
  const name = `orders/new${changed.size}`;
  changed.add(name);
  shop.orders.unshift({ name, status: 'NEW', createTime: updateTime, updateTime });
}

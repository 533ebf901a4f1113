import { createSeed } from '../../src/sandbox/seed/seed.ts';

/** What REST has of one tenant, whose mark is in each identifier that is not shared and in each note. */
export interface TenantRecords {
  /** The mark, such as `t3x`, as `orders/t3x2500`. */
  mark: string;
  /** Records by their path below `/v1/`. */
  byPath: ReadonlyMap<string, object>;
  /** Lists by their path below `/v1/`, newest first. */
  lists: ReadonlyMap<string, readonly { name: string }[]>;
}

// Of the seed's 2,500 orders; a tenth of a merchant is enough to be asked for.
const keptOrders = 200;

/** The sandbox's first merchant, made into as many tenants as are wanted. */
export function createTenantRecords(tenants: number): TenantRecords[] {
  const { locations, merchants } = createSeed(new Date('2026-11-02T14:00:00Z'));
  const [merchant] = merchants;
  if (merchant === undefined) throw new Error('the seed has no merchant');
  const orders = merchant.orders.slice(0, keptOrders);
  const shipmentNames = new Set(orders.map(({ shipment }) => shipment));
  const shipments = merchant.shipments
    .filter(({ name }) => shipmentNames.has(name))
    .map((shipment) => ({ ...shipment, labelUrl: 'https://labels.example/a.pdf' }));
  const quoteNames = new Set(shipments.map(({ quote }) => quote));
  const quotes = merchant.quotes.filter(({ name }) => quoteNames.has(name));
  const [channel] = merchant.channels;
  if (channel === undefined) throw new Error('the merchant has no channel');
  const text = JSON.stringify({
    orders,
    shipments,
    origins: merchant.origins,
    channels: [channel.channel],
    [`${channel.channel.name}/templates`]: channel.templates,
    ...Object.fromEntries(
      channel.conversations.slice(0, 20).map(({ name, messages }) => [`${name}/messages`, messages]),
    ),
  });
  return Array.from({ length: tenants }, (_, index) => {
    const mark = `t${index}x`;
    const own = (json: string) =>
      JSON.parse(json.replaceAll(/\/ca(\d)/g, `/${mark}$1`).replaceAll('"notes":"', `"notes":"${mark} `));
    // What the text says, as it was written above.
    const lists: Record<string, { name: string }[]> = own(text);
    const ofQuotes: { name: string }[] = own(JSON.stringify(quotes));
    const named = [lists.orders, lists.shipments, lists.origins, ofQuotes].flatMap((list) => list ?? []);
    const organization = { name: `organization/${mark}`, balanceCents: index, creditLimitCents: 100 };
    return {
      mark,
      byPath: new Map<string, object>([
        ...named.map((record): [string, object] => [record.name, record]),
        ['organizations/mine', organization],
      ]),
      lists: new Map<string, { name: string }[]>([...Object.entries(lists), ['locations', locations]]),
    };
  });
}

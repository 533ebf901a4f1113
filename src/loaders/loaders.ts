import type { RestApi } from '../rest/api.ts';
import type {
  ChannelQuery,
  ConversationQuery,
  LocationQuery,
  OrderQuery,
  PageQuery,
} from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import type {
  ChannelJson,
  LocationJson,
  MessageJson,
  OrderJson,
  OrganizationJson,
  OriginJson,
  QuoteJson,
  ShipmentJson,
  TemplateJson,
} from '../rest/wire-schema.ts';
import { ListBatchLoader, type ListBatchLoaderOptions } from './list-batch/list-batch-loader.ts';
import { ordersWithShipments } from './list-batch/order-shipments.ts';
import type { ListedKind } from './loading-observer.ts';
import { allRecords, type PageLoader, pageLoader } from './paging/page-loader.ts';
import { type RecordLoader, recordLoader, wholeListLoader } from './record-loader.ts';
import { locationLoader } from './reference/location-loader.ts';
import { ReferenceLoader } from './reference/reference-loader.ts';
import { ListScans, maxScannedPages, type ScanBudget } from './scan/list-scan.ts';
import type { FilteredRow } from './scan/row-filter.ts';
import { countByStatus, type StatusCounts } from './scan/status-counts.ts';
import type { LoaderState, LoaderStates } from './tenant-state.ts';

/** The largest page size of each list in rows ("List query parameters"). */
export const maxPageSize = {
  orders: 1000,
  shipments: 1000,
  origins: 1000,
  locations: 1000,
  channels: 100,
  templates: 100,
  messages: 100,
} as const;

/** The loaders of one operation, named by result and key. Each loader is created on first access. */
export interface Loaders {
  orderById: RecordLoader<OrderJson>;
  orderByReference: RecordLoader<OrderJson>;
  orderPage: PageLoader<OrderJson, OrderQuery>;
  /** For pages of orders whose shipments the operation will load. */
  orderPageWithShipments: PageLoader<OrderJson, OrderQuery>;
  /** For filters that REST does not have. */
  orderScans: ListScans<OrderJson, OrderQuery>;
  orderCounts: CountByStatus;
  shipmentById: RecordLoader<ShipmentJson>;
  shipmentPage: PageLoader<ShipmentJson, PageQuery>;
  shipmentScans: ListScans<ShipmentJson, PageQuery>;
  shipmentCounts: CountByStatus;
  quoteById: RecordLoader<QuoteJson>;
  originById: RecordLoader<OriginJson>;
  originPage: ReferenceLoader<OriginJson, PageQuery>;
  locationById: RecordLoader<LocationJson>;
  locationPage: ReferenceLoader<LocationJson, LocationQuery>;
  organization: RecordLoader<OrganizationJson>;
  channelById: RecordLoader<ChannelJson>;
  channelPage: ReferenceLoader<ChannelJson, PageQuery>;
  templatePage: ReferenceLoader<TemplateJson, ChannelQuery>;
  templatesByChannel: RecordLoader<TemplateJson[]>;
  messagePage: PageLoader<MessageJson, ConversationQuery>;
}

/** Counts the records created since a time in milliseconds since 1970. Undefined: all records. */
type CountByStatus = (createdSinceMs: number | undefined) => Promise<StatusCounts>;

interface LoaderSource {
  api: RestApi;
  callContext: CallContext;
  loaderStates: LoaderStates;
  state: LoaderState;
}

/** The loaders with the members that only other loaders use. */
interface InternalLoaders extends Loaders {
  orderById: ListBatchLoader<OrderJson>;
  shipmentById: ListBatchLoader<ShipmentJson>;
  /** All scans of the operation share it. */
  scanBudget: ScanBudget;
}

const createLazyLoaders = lazyProperties<LoaderSource, InternalLoaders>({
  orderById: (source) =>
    createListBatchLoader('orders', source, source.api.getOrder, source.api.listOrders, () => true),
  orderByReference: (_source, { orderPage }) =>
    recordLoader((referenceId) => findOrder(orderPage, referenceId)),
  orderPage: ({ api, callContext }, { orderById }) =>
    pageLoader((query) => api.listOrders(query, callContext), orderById),
  orderPageWithShipments: ({ state }, { orderPage, shipmentById }) =>
    ordersWithShipments(orderPage, shipmentById, state.shipments),
  scanBudget: ({ callContext: { callLog } }) => ({
    pagesLeft: maxScannedPages,
    onPage() {
      callLog.scannedPages += 1;
    },
  }),
  orderScans: (_source, { orderPage: pages, scanBudget: budget }) =>
    new ListScans({ pages, maxPageSize: maxPageSize.orders, budget }),
  orderCounts: (source, { orderScans }) => createCount('orders', source, orderScans),
  shipmentById: (source) =>
    createListBatchLoader(
      'shipments',
      source,
      source.api.getShipment,
      source.api.listShipments,
      hasExpectedLabel,
    ),
  shipmentPage: ({ api, callContext }, { shipmentById }) =>
    pageLoader((query) => api.listShipments(query, callContext), shipmentById),
  shipmentScans: (_source, { shipmentPage: pages, scanBudget: budget }) =>
    new ListScans({ pages, maxPageSize: maxPageSize.shipments, budget }),
  shipmentCounts: (source, { shipmentScans }) => createCount('shipments', source, shipmentScans),
  quoteById: ({ api, callContext }) => recordLoader((name) => api.getQuote(name, callContext)),
  originById: (_source, { originPage }) =>
    wholeListLoader(
      () => allRecords(originPage, { pageSize: maxPageSize.origins }),
      () => originPage.forgetEarlier(),
    ),
  originPage: ({ api, callContext, state }) =>
    new ReferenceLoader(callContext, state.referencePages, 'origins', api.listOrigins),
  locationById: ({ callContext, loaderStates }, { locationPage }) =>
    locationLoader({
      pages: locationPage,
      callContext,
      maxPageSize: maxPageSize.locations,
      listsForBatches: loaderStates.options.listsForBatches,
    }),
  locationPage: ({ api, callContext, state }) =>
    new ReferenceLoader(callContext, state.referencePages, 'locations', api.listLocations),
  organization: ({ api, callContext }) => recordLoader(() => api.getOrganization(callContext)),
  channelById: (_source, { channelPage }) =>
    wholeListLoader(
      () => allRecords(channelPage, { pageSize: maxPageSize.channels }),
      () => channelPage.forgetEarlier(),
    ),
  channelPage: ({ api, callContext, state }) =>
    new ReferenceLoader(callContext, state.referencePages, 'channels', api.listChannels),
  templatePage: ({ api, callContext, state }) =>
    new ReferenceLoader(callContext, state.referencePages, 'templates', api.listTemplates),
  templatesByChannel: (_source, { templatePage }) =>
    recordLoader((channel) => allRecords(templatePage, { channel, pageSize: maxPageSize.templates })),
  messagePage: ({ api, callContext }) => pageLoader((query) => api.listMessages(query, callContext)),
});

/** Creates the loaders of one operation. All calls use `callContext`. `loaderStates` keeps what operations learn. */
export function createLoaders(api: RestApi, callContext: CallContext, loaderStates: LoaderStates): Loaders {
  return createLazyLoaders({ api, callContext, loaderStates, state: loaderStates.of(callContext.tenant) });
}

function createCount<Row extends FilteredRow>(
  kind: ListedKind,
  { callContext, state }: LoaderSource,
  scans: Pick<ListScans<Row, PageQuery>, 'from'>,
): CountByStatus {
  return (createdSinceMs) =>
    state.counts.get(`${kind} ${createdSinceMs}`, callContext.tenant, () =>
      countByStatus(scans.from({}), createdSinceMs),
    );
}

function createListBatchLoader<Json extends { name: string }>(
  kind: ListedKind,
  { callContext, loaderStates, state }: LoaderSource,
  get: ListBatchLoaderOptions<Json>['get'],
  list: ListBatchLoaderOptions<Json>['list'],
  isRowComplete: (row: Json) => boolean,
): ListBatchLoader<Json> {
  return new ListBatchLoader({
    get,
    list,
    isRowComplete,
    kind,
    maxPageSize: maxPageSize[kind],
    callContext,
    state: state[kind],
    isListUsed: loaderStates.options.listsForBatches,
    observer: loaderStates.observer,
  });
}

/**
 * The newest order with this reference id. The list need not be sorted by time. The search matches reference ids
 * exactly but names fuzzily ("List query parameters"), so a page may hold other orders too.
 */
async function findOrder(pages: Loaders['orderPage'], referenceId: string): Promise<OrderJson | null> {
  const found = await allRecords(pages, { search: referenceId, pageSize: maxPageSize.orders });
  const [first, ...others] = found.filter((order) => order.referenceId === referenceId);
  if (first === undefined) return null;
  return others.reduce((newest, order) => (createdMs(order) > createdMs(newest) ? order : newest), first);
}

const statusesWithoutLabel: readonly string[] = ['GENERATING_LABEL', 'WITH_ERROR', 'CANCELLED'];

/** Whether a shipment has the label that its status requires ("Shipment status"). */
function hasExpectedLabel({ status, label }: ShipmentJson): boolean {
  return Boolean(label) || (status !== undefined && statusesWithoutLabel.includes(status));
}

/** The creation time in milliseconds. An order without a valid time counts as older than all others. */
function createdMs({ createTime }: OrderJson): number {
  const ms = Date.parse(createTime);
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

/** One function per property, which makes the value from the source and from the object's other properties. */
type Makers<Source, Made> = {
  readonly [Name in keyof Made]: (source: Source, made: Made) => Made[Name];
};

/**
 * Creates a factory of objects whose properties are made on first access and then kept. Useful if most operations
 * need only a few of the properties.
 */
function lazyProperties<Source, Made extends object>(makers: Makers<Source, Made>): (source: Source) => Made {
  // `makers` has exactly the keys of `Made`.
  const names = Object.keys(makers) as (keyof Made)[];

  class Lazy {
    readonly source: Source;
    /** The values in the order of `names`. An array, because properties are read for each row. */
    readonly values: unknown[] = new Array(names.length);

    constructor(source: Source) {
      this.source = source;
    }
  }
  for (const [index, name] of names.entries()) {
    const make = makers[name];
    // On the prototype: own accessors would cost more than they save (docs/decisions/0004-long-lived-closures.md).
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy & Made) {
        this.values[index] ??= make(this.source, this);
        return this.values[index];
      },
    });
  }
  // The loop above has defined all properties of `Made`.
  return (source) => new Lazy(source) as unknown as Made;
}

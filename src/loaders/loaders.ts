import type { RestApi } from '../rest/api.ts';
import type {
  ChannelQuery,
  ConversationQuery,
  LocationQuery,
  OrderQuery,
  Page,
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
import { lazyProperties } from './lazy-properties.ts';
import { ListBatchLoader, type ListBatchLoaderOptions } from './list-batch/list-batch-loader.ts';
import { ordersWithShipments } from './list-batch/prefetch-shipments.ts';
import type { ListedKind } from './loading-observer.ts';
import { PageLoader, type Pages, primingPageLoader } from './paging/page-loader.ts';
import { allRecords } from './paging/page-walk.ts';
import { type RecordLoader, recordLoader } from './record-loader.ts';
import { locationLoader } from './reference/location-loader.ts';
import { ReferenceLoader } from './reference/reference-loader.ts';
import { wholeListLoader } from './reference/whole-list-loader.ts';
import { countByStatus, type StatusCounts } from './scan/count-by-status.ts';
import { createScans } from './scan/list-scan.ts';
import { createdAtMs } from './scan/row-filter.ts';
import { ShipmentJoin } from './scan/shipment-join.ts';
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
  orderById: ListBatchLoader<OrderJson>;
  orderByReference: RecordLoader<OrderJson>;
  orderPage: PageLoader<OrderJson, OrderQuery>;
  /** For pages of orders whose shipments the operation will load. */
  orderPageWithShipments: Pages<OrderJson, OrderQuery>;
  /** For filters that REST does not have. */
  orderScans: ReturnType<typeof createScans<OrderJson, OrderQuery>>;
  shipmentById: ListBatchLoader<ShipmentJson>;
  shipmentPage: PageLoader<ShipmentJson, PageQuery>;
  shipmentScans: ReturnType<typeof createScans<ShipmentJson, PageQuery>>;
  /** For filters of orders by the status of their shipments. */
  shipmentJoin: ShipmentJoin;
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
  /** Counts the records created since a time in milliseconds since 1970. Undefined: all records. */
  countByStatus(list: ListedKind, sinceMs: number | undefined): Promise<StatusCounts>;
}

interface LoaderSource {
  api: RestApi;
  callContext: CallContext;
  loaderStates: LoaderStates;
  state: LoaderState;
}

const createLazyLoaders = lazyProperties<LoaderSource, Loaders>({
  orderById: (source) => listBatchLoader(source, 'orders', source.api.getOrder, source.api.listOrders),
  orderByReference: ({ state }, { orderPage, orderById }) =>
    recordLoader(async (referenceId) => {
      const found = await findOrder(orderPage, referenceId);
      // A search may still find the row from before a write of this token.
      return found !== null && state.orders.written.has(found.name) ? orderById.load(found.name) : found;
    }),
  orderPage: ({ api, callContext }, { orderById }) =>
    primingPageLoader(
      (query) => api.listOrders(query, callContext),
      maxPageSize.orders,
      orderById,
      callContext.scanBudget,
    ),
  orderPageWithShipments: ({ state }, { orderPage, shipmentById }) =>
    ordersWithShipments(orderPage, shipmentById, state.shipments),
  orderScans: ({ api, callContext }, { orderById }) =>
    createScans(api.listOrders, maxPageSize.orders, orderById, callContext),
  shipmentById: (source) =>
    listBatchLoader(source, 'shipments', source.api.getShipment, source.api.listShipments, hasExpectedLabel),
  shipmentPage: ({ api, callContext }, { shipmentById }) =>
    primingPageLoader(
      (query) => api.listShipments(query, callContext),
      maxPageSize.shipments,
      shipmentById,
      callContext.scanBudget,
    ),
  shipmentScans: ({ api, callContext }, { shipmentById }) =>
    createScans(api.listShipments, maxPageSize.shipments, shipmentById, callContext),
  shipmentJoin: ({ api, callContext }, { shipmentById }) =>
    new ShipmentJoin({
      list: api.listShipments,
      get: api.getShipment,
      maxPageSize: maxPageSize.shipments,
      byName: shipmentById,
      callContext,
    }),
  quoteById: ({ api, callContext }) => recordLoader((name) => api.getQuote(name, callContext)),
  originById: (_source, { originPage }) => wholeListLoader(originPage),
  originPage: (source) => referenceLoader(source, 'origins', source.api.listOrigins),
  locationById: ({ callContext, loaderStates }, { locationPage }) =>
    locationLoader(locationPage, callContext, loaderStates.options.listsForBatches),
  locationPage: (source) => referenceLoader(source, 'locations', source.api.listLocations),
  organization: ({ api, callContext }) => recordLoader(() => api.getOrganization(callContext)),
  channelById: (_source, { channelPage }) => wholeListLoader(channelPage),
  channelPage: (source) => referenceLoader(source, 'channels', source.api.listChannels),
  templatePage: (source) => referenceLoader(source, 'templates', source.api.listTemplates),
  templatesByChannel: (_source, { templatePage }) =>
    recordLoader((channel) => allRecords(templatePage, { channel })),
  messagePage: ({ api, callContext }) =>
    new PageLoader(
      (query) => api.listMessages(query, callContext),
      maxPageSize.messages,
      callContext.scanBudget,
    ),
  countByStatus: ({ callContext, state }, { orderScans, shipmentScans }) => {
    const scans = { orders: orderScans, shipments: shipmentScans };
    return (list, createdSinceMs) =>
      state.counts.get(`${list} ${createdSinceMs}`, callContext.tenant, () =>
        countByStatus(scans[list]({}), createdSinceMs),
      );
  },
});

/** The loaders of one operation. All calls use `callContext`. `loaderStates` keeps what operations learn. */
export function createLoaders(api: RestApi, callContext: CallContext, loaderStates: LoaderStates): Loaders {
  return createLazyLoaders({ api, callContext, loaderStates, state: loaderStates.of(callContext.tenant) });
}

/**
 * A loader of a list that seldom changes, whose pages are cached for all operations of a token.
 * @example originPage: (source) => referenceLoader(source, 'origins', source.api.listOrigins)
 */
function referenceLoader<Row, Query extends PageQuery>(
  { callContext, state }: LoaderSource,
  list: keyof typeof maxPageSize,
  read: (query: Query, callContext: CallContext) => Promise<Page<Row>>,
): ReferenceLoader<Row, Query> {
  return new ReferenceLoader(callContext, state.referencePages, list, read, maxPageSize[list]);
}

/**
 * A loader of records by name, which reads five or more of them from list pages.
 * @param isRowComplete whether a row of the list has all that the record has.
 * @example orderById: (source) => listBatchLoader(source, 'orders', source.api.getOrder, source.api.listOrders)
 */
function listBatchLoader<Json extends { name: string }>(
  { callContext, loaderStates: { options, observer }, state }: LoaderSource,
  kind: ListedKind,
  get: ListBatchLoaderOptions<Json>['get'],
  list: ListBatchLoaderOptions<Json>['list'],
  isRowComplete: (row: Json) => boolean = () => true,
): ListBatchLoader<Json> {
  return new ListBatchLoader({
    get,
    list,
    isRowComplete,
    kind,
    maxPageSize: maxPageSize[kind],
    callContext,
    state: state[kind],
    isListUsed: options.listsForBatches,
    observer,
  });
}

/** The field weighs one node, so its first page is small. Most searches for a reference id find a single order. */
const firstSearchRows = 100;

/**
 * The newest order with this reference id. The list need not be sorted by time. The search matches reference ids
 * exactly but names fuzzily ("List query parameters"), so a page may hold other orders too.
 */
async function findOrder(pages: Loaders['orderPage'], referenceId: string): Promise<OrderJson | null> {
  const orders = await allRecords(pages, { search: referenceId }, firstSearchRows);
  const found = orders.filter((order) => order.referenceId === referenceId);
  // An order without a valid time counts as older than all others.
  return found.sort((a, b) => (createdAtMs(b) ?? 0) - (createdAtMs(a) ?? 0)).at(0) ?? null;
}

const statusesWithoutLabel: readonly string[] = ['GENERATING_LABEL', 'WITH_ERROR', 'CANCELLED'];

/** Whether a shipment has the label that its status requires ("Shipment status"). */
function hasExpectedLabel({ status, label }: ShipmentJson): boolean {
  return Boolean(label) || (status !== undefined && statusesWithoutLabel.includes(status));
}

import type { RestApi } from '../rest/api.ts';
import type { Caller } from '../rest/caller.ts';
import type {
  ChannelJson,
  ChannelQuery,
  ConversationQuery,
  LocationJson,
  LocationQuery,
  MessageJson,
  OrderJson,
  OrderQuery,
  OrganizationJson,
  OriginJson,
  PageQuery,
  QuoteJson,
  ShipmentJson,
  TemplateJson,
} from '../rest/types.ts';
import { ordersWithShipments } from './ahead-of-ask.ts';
import { type Cursors, createCursors } from './cursor.ts';
import { listedLoader } from './listed-loader.ts';
import { locationLoader } from './location-loader.ts';
import { createLoaderMemory, type LoaderMemory } from './memory.ts';
import { allRecords, firstRecord, type PageLoader, pageLoader } from './page-loader.ts';
import { listedRecordLoader, type RecordLoader, recordLoader } from './record-loader.ts';
import { type ReferencePageLoader, referenceLoaders } from './reference-pages.ts';

/** The largest pages that REST gives ("List query parameters"), in rows. */
export const maxPageSize = {
  orders: 1000,
  shipments: 1000,
  origins: 1000,
  locations: 1000,
  channels: 100,
  templates: 100,
  messages: 100,
} as const;

/** Everything that the graph can ask for, named by result and key. Lives for one operation. */
export interface Loaders {
  orderById: RecordLoader<OrderJson>;
  orderByReference: RecordLoader<OrderJson>;
  orderPage: PageLoader<OrderJson, OrderQuery>;
  /** For pages of which the shipments will be asked for. */
  orderPageWithShipments: PageLoader<OrderJson, OrderQuery>;
  shipmentById: RecordLoader<ShipmentJson>;
  shipmentPage: PageLoader<ShipmentJson, PageQuery>;
  quoteById: RecordLoader<QuoteJson>;
  originById: RecordLoader<OriginJson>;
  originPage: ReferencePageLoader<OriginJson, PageQuery>;
  locationById: RecordLoader<LocationJson>;
  locationPage: ReferencePageLoader<LocationJson, LocationQuery>;
  organization: RecordLoader<OrganizationJson>;
  channelById: RecordLoader<ChannelJson>;
  channelPage: ReferencePageLoader<ChannelJson, PageQuery>;
  templatePage: ReferencePageLoader<TemplateJson, ChannelQuery>;
  templatesByChannel: RecordLoader<TemplateJson[]>;
  messagePage: PageLoader<MessageJson, ConversationQuery>;
  cursors: Cursors;
}

/** The loaders of one operation. Every call is made on behalf of `caller`; `memory` is what earlier operations left. */
export function createLoaders(
  api: RestApi,
  caller: Caller,
  memory: LoaderMemory = createLoaderMemory(),
): Loaders {
  const known = memory.of(caller.tenant);
  const referencePages = referenceLoaders(caller, known.referencePages);
  const isListUsed = memory.options.listsForBatches;
  const orderById = listedLoader({
    get: api.getOrder,
    list: api.listOrders,
    kind: 'orders',
    maxPageSize: maxPageSize.orders,
    caller,
    history: known.orders,
    isListUsed,
    observer: memory.observer,
  });
  const orderPage = pageLoader((query: OrderQuery) => api.listOrders(query, caller), orderById);
  const shipmentById = listedLoader({
    get: api.getShipment,
    list: api.listShipments,
    kind: 'shipments',
    maxPageSize: maxPageSize.shipments,
    caller,
    history: known.shipments,
    isListUsed,
    observer: memory.observer,
  });
  const shipmentPage = pageLoader((query: PageQuery) => api.listShipments(query, caller), shipmentById);
  const originPage = referencePages('origins', api.listOrigins);
  const locationPage = referencePages('locations', api.listLocations);
  const channelPage = referencePages('channels', api.listChannels);
  const templatePage = referencePages('templates', api.listTemplates);

  return {
    orderById,
    orderByReference: recordLoader((referenceId) => findOrder(orderPage, referenceId)),
    orderPage,
    orderPageWithShipments: ordersWithShipments({
      orderPage,
      shipmentById,
      history: known.shipmentsOfOrders,
      isAllowed: memory.options.aheadOfAsk,
    }),
    shipmentById,
    shipmentPage,
    quoteById: recordLoader((name) => api.getQuote(name, caller)),
    originById: listedRecordLoader(
      () => allRecords(originPage, { pageSize: maxPageSize.origins }),
      originPage.forgetEarlier,
    ),
    originPage,
    locationById: locationLoader({
      pages: locationPage,
      caller,
      maxPageSize: maxPageSize.locations,
      listsForBatches: isListUsed,
      list: known.locationList,
    }),
    locationPage,
    organization: recordLoader(() => api.getOrganization(caller)),
    channelById: listedRecordLoader(
      () => allRecords(channelPage, { pageSize: maxPageSize.channels }),
      channelPage.forgetEarlier,
    ),
    channelPage,
    templatePage,
    templatesByChannel: recordLoader((channel) =>
      allRecords(templatePage, { channel, pageSize: maxPageSize.templates }),
    ),
    messagePage: pageLoader((query) => api.listMessages(query, caller)),
    cursors: createCursors(caller.bearer),
  };
}

/** The search matches references exactly but names fuzzily, so a page may hold other orders as well. */
function findOrder(pages: Loaders['orderPage'], referenceId: string): Promise<OrderJson | null> {
  const query = { search: referenceId, pageSize: maxPageSize.orders };
  return firstRecord(pages, query, (order) => order.referenceId === referenceId);
}

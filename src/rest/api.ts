import type {
  ChannelQuery,
  ConversationQuery,
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  LocationQuery,
  OrderQuery,
  Page,
  PageQuery,
  SendMessageJson,
  SendToPhoneJson,
  UpdateOrderJson,
} from './api-types.ts';
import { describeCall, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
import type { RestClient } from './client/client.ts';
import type { StreamedResponse } from './client/receive-response.ts';
import { InvalidResponseError } from './errors.ts';
import { createResourceClient } from './resource-client.ts';
import { type Collection, conversationIdentifier, recordPath, resourceName } from './resource-name.ts';
import { ListWatch, type ListWatchOptions, type QueryParameterNames } from './watch/list-watch.ts';
import type { DriftWatch } from './watch/schema-drift.ts';
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
} from './wire-schema.ts';

/**
 * The REST interface: one method per endpoint, in the order of "Endpoints".
 * An id is a resource name or a bare identifier. A conversation's id is always the bare identifier.
 * @throws BadInputError for an invalid id, StatusError for a status other than 2xx, and the errors of the network.
 * A write throws OutcomeUnknownError if the request was sent and REST did not respond with the written record.
 */
export interface RestApi {
  createOrder(order: CreateOrderJson, callContext: CallContext): Promise<OrderJson>;
  listOrders(query: OrderQuery, callContext: CallContext): Promise<Page<OrderJson>>;
  getOrder(id: string, callContext: CallContext): Promise<OrderJson>;
  updateOrder(id: string, update: UpdateOrderJson, callContext: CallContext): Promise<OrderJson>;
  createQuote(quote: CreateQuoteJson, callContext: CallContext): Promise<QuoteJson>;
  getQuote(id: string, callContext: CallContext): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson, callContext: CallContext): Promise<ShipmentJson>;
  listShipments(query: PageQuery, callContext: CallContext): Promise<Page<ShipmentJson>>;
  getShipment(id: string, callContext: CallContext): Promise<ShipmentJson>;
  /** Streams the label as PDF. The caller must read `body` to its end or destroy it. */
  getLabel(shipmentId: string, callContext: CallContext): Promise<StreamedResponse>;
  listOrigins(query: PageQuery, callContext: CallContext): Promise<Page<OriginJson>>;
  listLocations(query: LocationQuery, callContext: CallContext): Promise<Page<LocationJson>>;
  getOrganization(callContext: CallContext): Promise<OrganizationJson>;
  listChannels(query: PageQuery, callContext: CallContext): Promise<Page<ChannelJson>>;
  listTemplates(query: ChannelQuery, callContext: CallContext): Promise<Page<TemplateJson>>;
  sendToPhone(channelId: string, message: SendToPhoneJson, callContext: CallContext): Promise<MessageJson>;
  sendMessage(
    channelId: string,
    conversation: string,
    message: SendMessageJson,
    callContext: CallContext,
  ): Promise<MessageJson>;
  listMessages(query: ConversationQuery, callContext: CallContext): Promise<Page<MessageJson>>;
  /** The service's clock, in milliseconds since 1970. Undefined until a response has a `date` header. */
  serviceTime(): number | undefined;
}

/** What watches the responses of REST. */
export interface RestChecks extends Pick<ListWatchOptions, 'onProblem' | 'onRowsOutside'> {
  /** Checks a sample of the records. */
  drift?: DriftWatch | undefined;
}

/**
 * Creates the REST interface over a client.
 * @param names the query parameter names of this REST service.
 */
export function createRestApi(
  client: RestClient,
  names: QueryParameterNames,
  { drift, ...checks }: RestChecks = {},
): RestApi {
  const listWatch = new ListWatch({ names, ...checks });
  const { sendForRecord, sendToRecord, fetchPage } = createResourceClient(
    client.send,
    names,
    listWatch,
    drift,
  );
  const path = (collection: Collection, id: string) => recordPath(collection, resourceName(collection, id));
  const get = { method: 'GET' } as const;
  const messagesPath = (channelId: string, conversation: string) =>
    `${path('channels', channelId)}/conversations/${encodeURIComponent(conversationIdentifier(conversation))}/messages`;

  // Every method is async or returns the promise of an async function: an invalid id rejects and never throws.
  return {
    createOrder: async (body, callContext) =>
      sendForRecord('orders', { method: 'POST', path: '/v1/orders', body }, callContext),
    listOrders: async (query, callContext) =>
      fetchPage('orders', '/v1/orders', query, callContext, {
        status: query.status?.join(','),
        search: query.search,
      }),
    getOrder: (id, callContext) => sendToRecord('orders', id, get, callContext),
    updateOrder: (id, body, callContext) =>
      sendToRecord('orders', id, { method: 'PATCH', body }, callContext),
    createQuote: async (body, callContext) =>
      sendForRecord('quotes', { method: 'POST', path: '/v1/quotes', body }, callContext),
    getQuote: (id, callContext) => sendToRecord('quotes', id, get, callContext),
    createShipment: async (body, callContext) =>
      sendForRecord('shipments', { method: 'POST', path: '/v1/shipments', body }, callContext),
    listShipments: async (query, callContext) => fetchPage('shipments', '/v1/shipments', query, callContext),
    getShipment: (id, callContext) => sendToRecord('shipments', id, get, callContext),
    getLabel: async (shipmentId, callContext) => {
      const labelPath = `${path('shipments', shipmentId)}/label`;
      const call: RestCall = { method: 'GET', path: labelPath, accept: 'application/pdf' };
      const stream = await client.stream(call, callContext);
      if (/^application\/pdf\s*(;|$)/i.test(stream.contentType)) return stream;
      stream.body.on('error', () => {}).destroy();
      throw new InvalidResponseError(`${describeCall(call)} returned no PDF`);
    },
    listOrigins: async (query, callContext) => fetchPage('origins', '/v1/origins', query, callContext),
    listLocations: async (query, callContext) =>
      fetchPage('locations', '/v1/locations', query, callContext, { query: query.query }),
    getOrganization: async (callContext) =>
      sendForRecord('organization', { method: 'GET', path: '/v1/organizations/mine' }, callContext),
    listChannels: async (query, callContext) => fetchPage('channels', '/v1/channels', query, callContext),
    listTemplates: async (query, callContext) =>
      fetchPage('templates', `${path('channels', query.channel)}/templates`, query, callContext),
    sendToPhone: async (channelId, body, callContext) =>
      sendForRecord(
        'messages',
        { method: 'POST', path: `${path('channels', channelId)}/messages`, body },
        callContext,
      ),
    sendMessage: async (channelId, conversation, body, callContext) =>
      sendForRecord(
        'messages',
        { method: 'POST', path: messagesPath(channelId, conversation), body },
        callContext,
      ),
    listMessages: async (query, callContext) =>
      fetchPage('messages', messagesPath(query.channel, query.conversation), query, callContext),
    serviceTime: client.serviceTime,
  };
}

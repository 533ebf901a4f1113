import { described, type RestCall } from './call.ts';
import type { Caller } from './client/call-context.ts';
import type { RestClient } from './client/client.ts';
import { singleFlight } from './client/single-flight.ts';
import type { StreamedResponse } from './client/streamed-response.ts';
import { InvalidResponseError } from './errors.ts';
import { createRecords, type ParameterNames } from './resource-client.ts';
import { bareIdentifier, type Collection, conversationIdentifier } from './resource-name.ts';
import type { DriftWatch } from './schema-drift.ts';
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
} from './types.ts';
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
 * The REST interface, one method per endpoint ("Endpoints"), in its order. An id is a resource name or the bare
 * identifier, but a conversation's the bare identifier only. Every method throws BadInputError for an unfit id,
 * StatusError for an answer other than 2xx, and the network's errors; a write that was sent and not answered, or
 * answered 2xx with something that is not its record, throws OutcomeUnknownError.
 */
export interface RestApi {
  createOrder(order: CreateOrderJson, caller: Caller): Promise<OrderJson>;
  listOrders(query: OrderQuery, caller: Caller): Promise<Page<OrderJson>>;
  getOrder(id: string, caller: Caller): Promise<OrderJson>;
  updateOrder(id: string, update: UpdateOrderJson, caller: Caller): Promise<OrderJson>;
  createQuote(quote: CreateQuoteJson, caller: Caller): Promise<QuoteJson>;
  getQuote(id: string, caller: Caller): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson, caller: Caller): Promise<ShipmentJson>;
  listShipments(query: PageQuery, caller: Caller): Promise<Page<ShipmentJson>>;
  getShipment(id: string, caller: Caller): Promise<ShipmentJson>;
  /** The label as PDF, streamed: `body` is to be read to its end or destroyed. */
  getLabel(shipmentId: string, caller: Caller): Promise<StreamedResponse>;
  listOrigins(query: PageQuery, caller: Caller): Promise<Page<OriginJson>>;
  listLocations(query: LocationQuery, caller: Caller): Promise<Page<LocationJson>>;
  getOrganization(caller: Caller): Promise<OrganizationJson>;
  listChannels(query: PageQuery, caller: Caller): Promise<Page<ChannelJson>>;
  listTemplates(query: ChannelQuery, caller: Caller): Promise<Page<TemplateJson>>;
  sendToPhone(channelId: string, message: SendToPhoneJson, caller: Caller): Promise<MessageJson>;
  sendMessage(
    channelId: string,
    conversation: string,
    message: SendMessageJson,
    caller: Caller,
  ): Promise<MessageJson>;
  listMessages(query: ConversationQuery, caller: Caller): Promise<Page<MessageJson>>;
  /** The time by the service's own clock, in milliseconds since 1970; undefined where no answer has told it yet. */
  serviceTime(): number | undefined;
}

/**
 * The interface over one client, whose reads are shared; `names` are the query parameters' names of this REST service.
 * `drift` is shown what REST answers.
 */
export function createRestApi(client: RestClient, names: ParameterNames, drift?: DriftWatch): RestApi {
  const { record, recordNamed, page } = createRecords(singleFlight(client), names, drift);
  const path = (collection: Collection, id: string) =>
    `/v1/${collection}/${encodeURIComponent(bareIdentifier(collection, id))}`;
  const get = { method: 'GET' } as const;
  const messagesPath = (channelId: string, conversation: string) =>
    `${path('channels', channelId)}/conversations/${encodeURIComponent(conversationIdentifier(conversation))}/messages`;

  // All are async functions or return what one does, so that an unfit id too is a rejection, never a throw.
  return {
    createOrder: async (body, caller) =>
      record('orders', { method: 'POST', path: '/v1/orders', body }, caller),
    listOrders: async (query, caller) =>
      page('orders', '/v1/orders', query, caller, {
        [names.status]: query.status?.join(','),
        [names.search]: query.search,
      }),
    getOrder: (id, caller) => recordNamed('orders', id, get, caller),
    updateOrder: (id, body, caller) => recordNamed('orders', id, { method: 'PATCH', body }, caller),
    createQuote: async (body, caller) =>
      record('quotes', { method: 'POST', path: '/v1/quotes', body }, caller),
    getQuote: (id, caller) => recordNamed('quotes', id, get, caller),
    createShipment: async (body, caller) =>
      record('shipments', { method: 'POST', path: '/v1/shipments', body }, caller),
    listShipments: async (query, caller) => page('shipments', '/v1/shipments', query, caller),
    getShipment: (id, caller) => recordNamed('shipments', id, get, caller),
    getLabel: async (shipmentId, caller) => {
      const labelPath = `${path('shipments', shipmentId)}/label`;
      const call: RestCall = { method: 'GET', path: labelPath, accept: 'application/pdf' };
      const stream = await client.stream(call, caller);
      if (/^application\/pdf\s*(;|$)/i.test(stream.contentType)) return stream;
      stream.body.on('error', () => {}).destroy();
      throw new InvalidResponseError(`${described(call)} answered something that is not a PDF`);
    },
    listOrigins: async (query, caller) => page('origins', '/v1/origins', query, caller),
    listLocations: async (query, caller) =>
      page('locations', '/v1/locations', query, caller, { [names.query]: query.query }),
    getOrganization: async (caller) =>
      record('organization', { method: 'GET', path: '/v1/organizations/mine' }, caller),
    listChannels: async (query, caller) => page('channels', '/v1/channels', query, caller),
    listTemplates: async (query, caller) =>
      page('templates', `${path('channels', query.channel)}/templates`, query, caller),
    sendToPhone: async (channelId, body, caller) =>
      record('messages', { method: 'POST', path: `${path('channels', channelId)}/messages`, body }, caller),
    sendMessage: async (channelId, conversation, body, caller) =>
      record('messages', { method: 'POST', path: messagesPath(channelId, conversation), body }, caller),
    listMessages: async (query, caller) =>
      page('messages', messagesPath(query.channel, query.conversation), query, caller),
    serviceTime: client.serviceTime,
  };
}

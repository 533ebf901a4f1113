import { described, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
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
  createOrder(order: CreateOrderJson, callContext: CallContext): Promise<OrderJson>;
  listOrders(query: OrderQuery, callContext: CallContext): Promise<Page<OrderJson>>;
  getOrder(id: string, callContext: CallContext): Promise<OrderJson>;
  updateOrder(id: string, update: UpdateOrderJson, callContext: CallContext): Promise<OrderJson>;
  createQuote(quote: CreateQuoteJson, callContext: CallContext): Promise<QuoteJson>;
  getQuote(id: string, callContext: CallContext): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson, callContext: CallContext): Promise<ShipmentJson>;
  listShipments(query: PageQuery, callContext: CallContext): Promise<Page<ShipmentJson>>;
  getShipment(id: string, callContext: CallContext): Promise<ShipmentJson>;
  /** The label as PDF, streamed: `body` is to be read to its end or destroyed. */
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
    createOrder: async (body, callContext) =>
      record('orders', { method: 'POST', path: '/v1/orders', body }, callContext),
    listOrders: async (query, callContext) =>
      page('orders', '/v1/orders', query, callContext, {
        [names.status]: query.status?.join(','),
        [names.search]: query.search,
      }),
    getOrder: (id, callContext) => recordNamed('orders', id, get, callContext),
    updateOrder: (id, body, callContext) => recordNamed('orders', id, { method: 'PATCH', body }, callContext),
    createQuote: async (body, callContext) =>
      record('quotes', { method: 'POST', path: '/v1/quotes', body }, callContext),
    getQuote: (id, callContext) => recordNamed('quotes', id, get, callContext),
    createShipment: async (body, callContext) =>
      record('shipments', { method: 'POST', path: '/v1/shipments', body }, callContext),
    listShipments: async (query, callContext) => page('shipments', '/v1/shipments', query, callContext),
    getShipment: (id, callContext) => recordNamed('shipments', id, get, callContext),
    getLabel: async (shipmentId, callContext) => {
      const labelPath = `${path('shipments', shipmentId)}/label`;
      const call: RestCall = { method: 'GET', path: labelPath, accept: 'application/pdf' };
      const stream = await client.stream(call, callContext);
      if (/^application\/pdf\s*(;|$)/i.test(stream.contentType)) return stream;
      stream.body.on('error', () => {}).destroy();
      throw new InvalidResponseError(`${described(call)} answered something that is not a PDF`);
    },
    listOrigins: async (query, callContext) => page('origins', '/v1/origins', query, callContext),
    listLocations: async (query, callContext) =>
      page('locations', '/v1/locations', query, callContext, { [names.query]: query.query }),
    getOrganization: async (callContext) =>
      record('organization', { method: 'GET', path: '/v1/organizations/mine' }, callContext),
    listChannels: async (query, callContext) => page('channels', '/v1/channels', query, callContext),
    listTemplates: async (query, callContext) =>
      page('templates', `${path('channels', query.channel)}/templates`, query, callContext),
    sendToPhone: async (channelId, body, callContext) =>
      record(
        'messages',
        { method: 'POST', path: `${path('channels', channelId)}/messages`, body },
        callContext,
      ),
    sendMessage: async (channelId, conversation, body, callContext) =>
      record('messages', { method: 'POST', path: messagesPath(channelId, conversation), body }, callContext),
    listMessages: async (query, callContext) =>
      page('messages', messagesPath(query.channel, query.conversation), query, callContext),
    serviceTime: client.serviceTime,
  };
}

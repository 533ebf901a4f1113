import type {
  ChannelQuery,
  ConversationQuery,
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  LocationQuery,
  OrderQuery,
  PageQuery,
  SendMessageJson,
  SendToPhoneJson,
  UpdateOrderJson,
} from './api-types.ts';
import { describeCall, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
import type { RestClient } from './client/client.ts';
import type { StreamedResponse } from './client/http-exchange.ts';
import { conversationIdentifier } from './conversation-name.ts';
import { InvalidResponseError } from './errors.ts';
import { createResourceClient } from './resource-client.ts';
import { type Collection, recordPath, resourceName } from './resource-name.ts';
import {
  createParameterWatch,
  type ParameterWatchOptions,
  type QueryParameterNames,
} from './watch/parameter-watch.ts';
import type { DriftWatch } from './watch/schema-drift.ts';

export type RestApi = ReturnType<typeof createRestApi>;

/**
 * The REST interface over a client: one method per endpoint, in the order of "Endpoints".
 * An id is a resource name or a bare identifier. A conversation's id is always the bare identifier.
 * The methods throw BadInputError for an invalid id, StatusError for a status other than 2xx, and the errors of the
 * network. A write throws OutcomeUnknownError if it was sent and REST did not respond with the written record. This is
 * also so for a record of another request (repeated-names.ts).
 * @param names the query parameter names of this REST service.
 * @param drift checks a sample of the records.
 */
export function createRestApi(
  client: RestClient,
  names: QueryParameterNames,
  { drift, ...checks }: ParameterWatchOptions & { drift?: DriftWatch | undefined } = {},
) {
  const listWatch = createParameterWatch(names, checks);
  const { sendForRecord, postForRecord, sendToRecord, fetchPage } = createResourceClient(
    client.send,
    listWatch,
    drift,
  );
  const path = (collection: Collection, id: string) => recordPath(collection, resourceName(collection, id));
  const messagesPath = (channelId: string, conversation: string) =>
    `${path('channels', channelId)}/conversations/${encodeURIComponent(conversationIdentifier(conversation))}/messages`;
  const get = { method: 'GET' } as const;
  const post = (path: string, body: unknown): RestCall => ({ method: 'POST', path, body });

  // Every method is async or returns the promise of an async function: an invalid id rejects and never throws.
  return {
    createOrder: async (order: CreateOrderJson, callContext: CallContext) =>
      postForRecord('orders', post('/v1/orders', order), callContext, order),
    listOrders: async ({ status, search, ...page }: OrderQuery, callContext: CallContext) =>
      fetchPage('orders', '/v1/orders', page, callContext, { status: status?.join(','), search }),
    getOrder: (id: string, callContext: CallContext) => sendToRecord('orders', id, get, callContext),
    updateOrder: (id: string, body: UpdateOrderJson, callContext: CallContext) =>
      sendToRecord('orders', id, { method: 'PATCH', body }, callContext),
    createQuote: async (quote: CreateQuoteJson, callContext: CallContext) =>
      postForRecord('quotes', post('/v1/quotes', quote), callContext, quote),
    getQuote: (id: string, callContext: CallContext) => sendToRecord('quotes', id, get, callContext),
    createShipment: async (shipment: CreateShipmentJson, callContext: CallContext) =>
      postForRecord('shipments', post('/v1/shipments', shipment), callContext, shipment),
    listShipments: async (page: PageQuery, callContext: CallContext) =>
      fetchPage('shipments', '/v1/shipments', page, callContext),
    getShipment: (id: string, callContext: CallContext) => sendToRecord('shipments', id, get, callContext),
    /** Streams the label as PDF. The caller must read `body` to its end or destroy it. */
    async getLabel(shipmentId: string, callContext: CallContext): Promise<StreamedResponse> {
      const labelPath = `${path('shipments', shipmentId)}/label`;
      const call: RestCall = { ...get, path: labelPath, accept: 'application/pdf' };
      const stream = await client.stream(call, callContext);
      if (/^application\/pdf\s*(;|$)/i.test(stream.contentType)) return stream;
      stream.body.on('error', () => {}).destroy();
      throw new InvalidResponseError(`${describeCall(call)} returned no PDF`);
    },
    listOrigins: async (page: PageQuery, callContext: CallContext) =>
      fetchPage('origins', '/v1/origins', page, callContext),
    listLocations: async ({ query, ...page }: LocationQuery, callContext: CallContext) =>
      fetchPage('locations', '/v1/locations', page, callContext, { query }),
    getOrganization: async (callContext: CallContext) =>
      sendForRecord('organization', { ...get, path: '/v1/organizations/mine' }, callContext),
    listChannels: async (page: PageQuery, callContext: CallContext) =>
      fetchPage('channels', '/v1/channels', page, callContext),
    listTemplates: async ({ channel, ...page }: ChannelQuery, callContext: CallContext) =>
      fetchPage('templates', `${path('channels', channel)}/templates`, page, callContext),
    sendToPhone: async (channelId: string, message: SendToPhoneJson, callContext: CallContext) =>
      postForRecord('messages', post(`${path('channels', channelId)}/messages`, message), callContext, {
        channel: channelId,
      }),
    sendMessage: async (
      channelId: string,
      conversation: string,
      message: SendMessageJson,
      callContext: CallContext,
    ) =>
      postForRecord('messages', post(messagesPath(channelId, conversation), message), callContext, {
        channel: channelId,
        conversation,
      }),
    listMessages: async ({ channel, conversation, ...page }: ConversationQuery, callContext: CallContext) =>
      fetchPage('messages', messagesPath(channel, conversation), page, callContext),
    /** Checks before other work that a message could be sent now. @throws CircuitOpenError if not. */
    expectMessagePermit: (channelId: string, conversation: string, callContext: CallContext) =>
      client.expectPermit(post(messagesPath(channelId, conversation), undefined), callContext),
    /** Checks before other work that a quote and a shipment could be created now. @throws CircuitOpenError if not. */
    expectShippingPermit(callContext: CallContext): void {
      for (const path of ['/v1/quotes', '/v1/shipments'])
        client.expectPermit(post(path, undefined), callContext);
    },
    /** The service's clock, in milliseconds since 1970. Undefined until a response has a `date` header. */
    serviceTime: client.serviceTime,
  };
}

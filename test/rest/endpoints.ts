import type { RestApi } from '../../src/rest/api.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import { newOrder, newQuote, newShipment, orderUpdate } from './bodies.ts';

/** A call of a method of `RestApi`, and the request that it sends. */
export interface Endpoint {
  method: keyof RestApi;
  call(api: RestApi, callContext: CallContext): Promise<unknown>;
  /** Literally what goes over the wire. */
  line: string;
  body?: string;
  accept?: string;
}

/** A row of the table. A row for an id has `{id}` in its line, and is called with several ids. */
interface Row extends Omit<Endpoint, 'call'> {
  call(api: RestApi, callContext: CallContext, id: string): Promise<unknown>;
}

/** Every endpoint of the interface in its order, with a row for each id in its path. */
const rows: readonly Row[] = [
  {
    method: 'createOrder',
    call: (api, callContext) => api.createOrder(newOrder, callContext),
    line: 'POST /v1/orders',
    body:
      '{"recipient":{"firstName":"José","lastName":"Ñáñez","email":"jose@example.com","phoneNumber":"+573001234567",' +
      '"address":{"addressLines":["Calle 10 # 5-51","Apto 301"],"organization":null},"location":"locations/antioquia-medellin"},' +
      '"contentDescription":"Café 🫘","notes":"Portería","sellingPriceCents":9007199254740991,"cashOnDeliveryRequestCents":0}',
  },
  {
    method: 'listOrders',
    call: (api, callContext) => api.listOrders({ pageSize: 100 }, callContext),
    line: 'GET /v1/orders?pageSize=100',
  },
  {
    method: 'listOrders',
    call: (api, callContext) =>
      api.listOrders(
        { pageSize: 1, pageToken: 'a+b/c=', status: ['NEW', 'READY'], search: 'José & +57' },
        callContext,
      ),
    line: 'GET /v1/orders?pageSize=1&pageToken=a%2Bb%2Fc%3D&status=NEW%2CREADY&search=Jos%C3%A9+%26+%2B57',
  },
  {
    method: 'getOrder',
    call: (api, callContext, id) => api.getOrder(id, callContext),
    line: 'GET /v1/orders/{id}',
  },
  {
    method: 'updateOrder',
    call: (api, callContext, id) => api.updateOrder(id, orderUpdate, callContext),
    line: 'PATCH /v1/orders/{id}',
    body: '{"order":{"status":"READY"},"updateMask":["status"]}',
  },
  {
    method: 'createQuote',
    call: (api, callContext) => api.createQuote(newQuote, callContext),
    line: 'POST /v1/quotes',
    body: '{"origin":"locations/1","destination":"locations/2","package":{"weightKg":1.5}}',
  },
  {
    method: 'getQuote',
    call: (api, callContext, id) => api.getQuote(id, callContext),
    line: 'GET /v1/quotes/{id}',
  },
  {
    method: 'createShipment',
    call: (api, callContext) => api.createShipment(newShipment, callContext),
    line: 'POST /v1/shipments',
    body:
      '{"quote":"quotes/4","courier":"couriers/rapido","origin":"origins/1","recipient":{"firstName":"José",' +
      '"lastName":"Ñáñez","email":"jose@example.com","phoneNumber":"+573001234567",' +
      '"address":{"addressLines":["Calle 10 # 5-51","Apto 301"],"organization":null}},"requiresPickup":true}',
  },
  {
    method: 'listShipments',
    call: (api, callContext) => api.listShipments({ pageSize: 1000, pageToken: 't' }, callContext),
    line: 'GET /v1/shipments?pageSize=1000&pageToken=t',
  },
  {
    method: 'getShipment',
    call: (api, callContext, id) => api.getShipment(id, callContext),
    line: 'GET /v1/shipments/{id}',
  },
  {
    method: 'getLabel',
    call: async (api, callContext, id) => (await api.getLabel(id, callContext)).body.resume(),
    line: 'GET /v1/shipments/{id}/label',
    accept: 'application/pdf',
  },
  {
    method: 'listOrigins',
    call: (api, callContext) => api.listOrigins({ pageSize: 5 }, callContext),
    line: 'GET /v1/origins?pageSize=5',
  },
  {
    method: 'listLocations',
    call: (api, callContext) =>
      api.listLocations({ pageSize: 5, pageToken: 'n', query: 'Medellín #1' }, callContext),
    line: 'GET /v1/locations?pageSize=5&pageToken=n&query=Medell%C3%ADn+%231',
  },
  {
    method: 'getOrganization',
    call: (api, callContext) => api.getOrganization(callContext),
    line: 'GET /v1/organizations/mine',
  },
  {
    method: 'listChannels',
    call: (api, callContext) => api.listChannels({ pageSize: 50 }, callContext),
    line: 'GET /v1/channels?pageSize=50',
  },
  {
    method: 'listTemplates',
    call: (api, callContext, id) => api.listTemplates({ channel: id, pageSize: 100 }, callContext),
    line: 'GET /v1/channels/{id}/templates?pageSize=100',
  },
  {
    method: 'listTemplates',
    call: (api, callContext) => api.listTemplates({ channel: '1', pageSize: 1, pageToken: 'x' }, callContext),
    line: 'GET /v1/channels/1/templates?pageSize=1&pageToken=x',
  },
  {
    method: 'sendToPhone',
    call: (api, callContext, id) =>
      api.sendToPhone(id, { recipient: { phone: '+57300', name: 'José' }, text: '¡Hola!' }, callContext),
    line: 'POST /v1/channels/{id}/messages',
    body: '{"recipient":{"phone":"+57300","name":"José"},"text":"¡Hola!"}',
  },
  {
    method: 'sendMessage',
    call: (api, callContext, id) => api.sendMessage(id, '17', { text: 'مرحبا' }, callContext),
    line: 'POST /v1/channels/{id}/conversations/17/messages',
    body: '{"text":"مرحبا"}',
  },
  {
    method: 'sendMessage',
    call: (api, callContext, id) => api.sendMessage('1', id, { text: 'مرحبا' }, callContext),
    line: 'POST /v1/channels/1/conversations/{id}/messages',
    body: '{"text":"مرحبا"}',
  },
  {
    method: 'sendMessage',
    call: (api, callContext) =>
      api.sendMessage(
        '1',
        '17',
        { template: { name: 'shipped', language: 'es', bodyParameters: { name: 'José' } } },
        callContext,
      ),
    line: 'POST /v1/channels/1/conversations/17/messages',
    body: '{"template":{"name":"shipped","language":"es","bodyParameters":{"name":"José"}}}',
  },
  {
    method: 'listMessages',
    call: (api, callContext, id) =>
      api.listMessages({ channel: id, conversation: '17', pageSize: 20, pageToken: 'z' }, callContext),
    line: 'GET /v1/channels/{id}/conversations/17/messages?pageSize=20&pageToken=z',
  },
  {
    method: 'listMessages',
    call: (api, callContext, id) =>
      api.listMessages({ channel: '1', conversation: id, pageSize: 20, pageToken: 'z' }, callContext),
    line: 'GET /v1/channels/1/conversations/{id}/messages?pageSize=20&pageToken=z',
  },
];

/** The collection of the id in a line: `orders` for `GET /v1/orders/{id}`. Undefined if the line has no id. */
export const collectionOfId = (line: string) => /(\w+)\/\{id\}/.exec(line)?.[1];

/** The rows with an id. */
export const rowsWithId = rows.filter(({ line }) => collectionOfId(line) !== undefined);

/** Every endpoint of the interface in its order, with each id once as a resource name where it has one and once bare. */
export const endpoints: readonly Endpoint[] = rows.flatMap(({ call, line, ...others }) => {
  const collection = collectionOfId(line);
  // The id of a conversation is always bare.
  const ids =
    collection === undefined || collection === 'conversations' ? ['7'] : [`${collection}/a.B_~-9`, '7'];
  return ids.map((id) => ({
    ...others,
    call: (api: RestApi, callContext: CallContext) => call(api, callContext, id),
    line: line.replace('{id}', id.replace(/.*\//, '')),
  }));
});

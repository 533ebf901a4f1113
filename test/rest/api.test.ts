import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/client/call-context.ts';
import type { ParameterNames } from '../../src/rest/resource-client.ts';
import { answerAsPromised, answerJson, bearer, startBench } from '../fixtures/rest-service.ts';
import { newOrder, newQuote, newShipment, orderUpdate } from './bodies.ts';

interface Endpoint {
  method: keyof RestApi;
  call(api: RestApi, caller: Caller): Promise<unknown>;
  /** Literally what goes over the wire. */
  line: string;
  body?: string;
  accept?: string;
}

/** Every endpoint of the interface in its order, with each id once bare and once as a resource name where it has one. */
const endpoints: Endpoint[] = [
  {
    method: 'createOrder',
    call: (api, caller) => api.createOrder(newOrder, caller),
    line: 'POST /v1/orders',
    body:
      '{"recipient":{"firstName":"José","lastName":"Ñáñez","email":"jose@example.com","phoneNumber":"+573001234567",' +
      '"address":{"addressLines":["Calle 10 # 5-51","Apto 301"],"organization":null},"location":"locations/antioquia-medellin"},' +
      '"contentDescription":"Café 🫘","notes":"Portería","sellingPriceCents":9007199254740991,"cashOnDeliveryRequestCents":0}',
  },
  {
    method: 'listOrders',
    call: (api, caller) => api.listOrders({ pageSize: 100 }, caller),
    line: 'GET /v1/orders?pageSize=100',
  },
  {
    method: 'listOrders',
    call: (api, caller) =>
      api.listOrders(
        { pageSize: 1, pageToken: 'a+b/c=', status: ['NEW', 'READY'], search: 'José & +57' },
        caller,
      ),
    line: 'GET /v1/orders?pageSize=1&pageToken=a%2Bb%2Fc%3D&status=NEW%2CREADY&search=Jos%C3%A9+%26+%2B57',
  },
  {
    method: 'getOrder',
    call: (api, caller) => api.getOrder('7', caller),
    line: 'GET /v1/orders/7',
  },
  {
    method: 'getOrder',
    call: (api, caller) => api.getOrder('orders/a.B_~-9', caller),
    line: 'GET /v1/orders/a.B_~-9',
  },
  {
    method: 'updateOrder',
    call: (api, caller) => api.updateOrder('7', orderUpdate, caller),
    line: 'PATCH /v1/orders/7',
    body: '{"order":{"status":"READY"},"updateMask":["status"]}',
  },
  {
    method: 'updateOrder',
    call: (api, caller) => api.updateOrder('orders/7', orderUpdate, caller),
    line: 'PATCH /v1/orders/7',
    body: '{"order":{"status":"READY"},"updateMask":["status"]}',
  },
  {
    method: 'createQuote',
    call: (api, caller) => api.createQuote(newQuote, caller),
    line: 'POST /v1/quotes',
    body: '{"origin":"locations/1","destination":"locations/2","package":{"weightKg":1.5}}',
  },
  { method: 'getQuote', call: (api, caller) => api.getQuote('4', caller), line: 'GET /v1/quotes/4' },
  { method: 'getQuote', call: (api, caller) => api.getQuote('quotes/4', caller), line: 'GET /v1/quotes/4' },
  {
    method: 'createShipment',
    call: (api, caller) => api.createShipment(newShipment, caller),
    line: 'POST /v1/shipments',
    body:
      '{"quote":"quotes/4","courier":"couriers/rapido","origin":"origins/1","recipient":{"firstName":"José",' +
      '"lastName":"Ñáñez","email":"jose@example.com","phoneNumber":"+573001234567",' +
      '"address":{"addressLines":["Calle 10 # 5-51","Apto 301"],"organization":null}},"requiresPickup":true}',
  },
  {
    method: 'listShipments',
    call: (api, caller) => api.listShipments({ pageSize: 1000, pageToken: 't' }, caller),
    line: 'GET /v1/shipments?pageSize=1000&pageToken=t',
  },
  { method: 'getShipment', call: (api, caller) => api.getShipment('3', caller), line: 'GET /v1/shipments/3' },
  {
    method: 'getShipment',
    call: (api, caller) => api.getShipment('shipments/3', caller),
    line: 'GET /v1/shipments/3',
  },
  {
    method: 'getLabel',
    call: async (api, caller) => (await api.getLabel('3', caller)).body.resume(),
    line: 'GET /v1/shipments/3/label',
    accept: 'application/pdf',
  },
  {
    method: 'getLabel',
    call: async (api, caller) => (await api.getLabel('shipments/3', caller)).body.resume(),
    line: 'GET /v1/shipments/3/label',
    accept: 'application/pdf',
  },
  {
    method: 'listOrigins',
    call: (api, caller) => api.listOrigins({ pageSize: 5 }, caller),
    line: 'GET /v1/origins?pageSize=5',
  },
  {
    method: 'listLocations',
    call: (api, caller) => api.listLocations({ pageSize: 5, pageToken: 'n', query: 'Medellín #1' }, caller),
    line: 'GET /v1/locations?pageSize=5&pageToken=n&query=Medell%C3%ADn+%231',
  },
  {
    method: 'getOrganization',
    call: (api, caller) => api.getOrganization(caller),
    line: 'GET /v1/organizations/mine',
  },
  {
    method: 'listChannels',
    call: (api, caller) => api.listChannels({ pageSize: 50 }, caller),
    line: 'GET /v1/channels?pageSize=50',
  },
  {
    method: 'listTemplates',
    call: (api, caller) => api.listTemplates({ channel: '1', pageSize: 100 }, caller),
    line: 'GET /v1/channels/1/templates?pageSize=100',
  },
  {
    method: 'listTemplates',
    call: (api, caller) => api.listTemplates({ channel: 'channels/1', pageSize: 1, pageToken: 'x' }, caller),
    line: 'GET /v1/channels/1/templates?pageSize=1&pageToken=x',
  },
  {
    method: 'sendToPhone',
    call: (api, caller) =>
      api.sendToPhone('1', { recipient: { phone: '+57300', name: 'José' }, text: '¡Hola!' }, caller),
    line: 'POST /v1/channels/1/messages',
    body: '{"recipient":{"phone":"+57300","name":"José"},"text":"¡Hola!"}',
  },
  {
    method: 'sendToPhone',
    call: (api, caller) =>
      api.sendToPhone('channels/1', { recipient: { phone: '+57300', name: 'José' }, text: 'a' }, caller),
    line: 'POST /v1/channels/1/messages',
    body: '{"recipient":{"phone":"+57300","name":"José"},"text":"a"}',
  },
  {
    method: 'sendMessage',
    call: (api, caller) => api.sendMessage('1', '17', { text: 'مرحبا' }, caller),
    line: 'POST /v1/channels/1/conversations/17/messages',
    body: '{"text":"مرحبا"}',
  },
  {
    method: 'sendMessage',
    call: (api, caller) =>
      api.sendMessage(
        'channels/1',
        '17',
        { template: { name: 'shipped', language: 'es', bodyParameters: { name: 'José' } } },
        caller,
      ),
    line: 'POST /v1/channels/1/conversations/17/messages',
    body: '{"template":{"name":"shipped","language":"es","bodyParameters":{"name":"José"}}}',
  },
  {
    method: 'listMessages',
    call: (api, caller) =>
      api.listMessages({ channel: '1', conversation: '17', pageSize: 20, pageToken: 'z' }, caller),
    line: 'GET /v1/channels/1/conversations/17/messages?pageSize=20&pageToken=z',
  },
];

describe('what goes over the wire', () => {
  test('the table holds all 18 endpoints of the interface', () => {
    expect(new Set(endpoints.map(({ method }) => method)).size).toBe(18);
  });

  test.each(endpoints)('$method: $line', async ({ call, line, body, accept }) => {
    await using bench = await startBench(answerAsPromised);
    await call(bench.api, bench.caller());
    expect(bench.service.requests).toEqual([
      {
        line,
        body: body ?? '',
        headers: {
          host: bench.service.url.host,
          connection: 'keep-alive',
          accept: accept ?? 'application/json',
          authorization: 'Bearer secret-token',
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        },
      },
    ]);
  });

  test.each(['', '/', '/api', '/api/', '/a%20b/c'])('a base address with the path "%s"', async (path) => {
    const answer = answerJson({ name: 'orders/7' });
    await using bench = await startBench(answer);
    await using other = await startBench(answer, { baseUrl: new URL(path, bench.service.url) });
    await other.api.getOrder('7', other.caller());
    expect(bench.service.requests.map(({ line }) => line)).toEqual([
      `GET ${path.replace(/\/$/, '')}/v1/orders/7`,
    ]);
  });
});

describe('the names of the query parameters', () => {
  const names: ParameterNames = {
    pageSize: 'max_results',
    pageToken: 'cursor',
    status: 'states',
    search: 'q',
    // The same as the search: they belong to different lists.
    query: 'q',
  };

  test('are taken from the configuration', async () => {
    await using bench = await startBench(answerAsPromised, { names });
    const { api, service } = bench;
    await api.listOrders({ pageSize: 9, pageToken: 't', status: ['NEW'], search: 'Ana' }, bench.caller());
    await api.listLocations({ pageSize: 8, pageToken: 'u', query: 'Cali' }, bench.caller());
    expect(service.requests.map(({ line }) => line)).toEqual([
      'GET /v1/orders?max_results=9&cursor=t&states=NEW&q=Ana',
      'GET /v1/locations?max_results=8&cursor=u&q=Cali',
    ]);
  });
});

test('each caller speaks with its own bearer', async () => {
  await using bench = await startBench(answerAsPromised);
  await bench.api.getOrder('1', bench.caller());
  await bench.api.getOrder('1', { ...bench.caller(), bearer: 'another' });
  expect(bench.service.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${bearer}`,
    'Bearer another',
  ]);
});

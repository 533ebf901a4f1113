import { describe, expect, test } from 'vitest';
import type { ParameterNames, RestApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { BadInputError, InvalidResponseError } from '../../src/rest/errors.ts';
import type {
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  Page,
  UpdateOrderJson,
} from '../../src/rest/types.ts';
import { type Answer, answerJson, bearer, errorOf, startBench } from './service.ts';

const recipient = {
  firstName: 'José',
  lastName: 'Ñáñez',
  email: 'jose@example.com',
  phoneNumber: '+573001234567',
  address: { addressLines: ['Calle 10 # 5-51', 'Apto 301'], organization: null },
};
const newOrder: CreateOrderJson = {
  recipient: { ...recipient, location: 'locations/antioquia-medellin' },
  contentDescription: 'Café 🫘',
  notes: 'Portería',
  sellingPriceCents: 9_007_199_254_740_991,
  cashOnDeliveryRequestCents: 0,
};
const orderUpdate: UpdateOrderJson = { order: { status: 'READY' }, updateMask: ['status'] };
const newQuote: CreateQuoteJson = {
  origin: 'locations/1',
  destination: 'locations/2',
  package: { weightKg: 1.5 },
};
const newShipment: CreateShipmentJson = {
  quote: 'quotes/4',
  courier: 'couriers/rapido',
  origin: 'origins/1',
  recipient,
  requiresPickup: true,
};

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

/** Answers each path with what the interface gives there. */
const answerAsPromised: Answer = (request, response, body) => {
  const path = new URL(request.url ?? '', 'http://rest.test').pathname.replace('/v1/', '');
  if (path.endsWith('/label'))
    return response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
  const key = path.split('/').at(-1) ?? '';
  const isList =
    request.method === 'GET' &&
    /^(orders|shipments|origins|locations|channels|templates|messages)$/.test(key);
  const made = key === 'messages' ? 'channels/1/conversations/17/messages/m1' : `${key}/1`;
  const name = key === 'mine' ? 'organization/1' : request.method === 'POST' ? made : path;
  const json = isList ? { [key]: [] } : { name };
  return answerJson(json)(request, response, body);
};

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
    await using bench = await startBench(answerAsPromised);
    await using other = await startBench(answerAsPromised, { baseUrl: new URL(path, bench.service.url) });
    await other.client.json({ method: 'GET', path: '/v1/orders/7' }, other.caller());
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

describe('an unfit id', () => {
  const unfit: [string, string][] = [
    ['two dots', '..'],
    ['one dot', '.'],
    ['a way out of the collection', '../organizations/mine'],
    ['two dots, escaped', '%2e%2e'],
    ['a query', 'a?x=1'],
    ['a fragment', 'a#b'],
    ['nothing', ''],
    ['10 KB', 'a'.repeat(10_240)],
    ['129 characters', 'a'.repeat(129)],
    ['NUL', 'a\0'],
    ['CRLF', 'a\r\nhost: elsewhere'],
    ['a newline at the end', 'a\n'],
    ['a lone surrogate', 'a\ud800'],
    ['a letter that looks like another', 'а'],
    ['the name of another collection', 'couriers/a'],
    ['a deeper path', 'orders/a/label'],
    ['a slash before it', '/a'],
    ['a slash after it', 'a/'],
    ['a backslash', 'a\\b'],
    ['a blank', 'a b'],
  ];
  const takers: [string, (api: RestApi, id: string, caller: Caller) => Promise<unknown>][] = [
    ['getOrder', (api, id, caller) => api.getOrder(id, caller)],
    ['updateOrder', (api, id, caller) => api.updateOrder(id, orderUpdate, caller)],
    ['getQuote', (api, id, caller) => api.getQuote(id, caller)],
    ['getShipment', (api, id, caller) => api.getShipment(id, caller)],
    ['getLabel', (api, id, caller) => api.getLabel(id, caller)],
    ['listTemplates', (api, id, caller) => api.listTemplates({ channel: id, pageSize: 1 }, caller)],
    [
      'sendToPhone',
      (api, id, caller) => api.sendToPhone(id, { recipient: { phone: '1', name: 'a' }, text: 'a' }, caller),
    ],
    ['sendMessage, channel', (api, id, caller) => api.sendMessage(id, '1', { text: 'a' }, caller)],
    ['sendMessage, conversation', (api, id, caller) => api.sendMessage('1', id, { text: 'a' }, caller)],
    [
      'listMessages, channel',
      (api, id, caller) => api.listMessages({ channel: id, conversation: '1', pageSize: 1 }, caller),
    ],
    [
      'listMessages, conversation',
      (api, id, caller) => api.listMessages({ channel: '1', conversation: id, pageSize: 1 }, caller),
    ],
  ];

  test.each(takers)('%s: is refused and costs no request', async (_name, take) => {
    await using bench = await startBench(answerAsPromised);
    for (const [what, id] of unfit) {
      const error = await errorOf(take(bench.api, id, bench.caller()));
      expect(error, what).toBeInstanceOf(BadInputError);
      expect(error.message.length, what).toBeLessThan(350);
      expect(error.message, what).not.toMatch(/[\0\r\n\ud800-\udfff]/);
    }
    expect(bench.service.requests).toEqual([]);
    expect(bench.service.connections).toBe(0);
  });

  test('the longest and the shortest fit ones pass', async () => {
    await using bench = await startBench(answerAsPromised);
    for (const id of ['a', '0', `Z${'~'.repeat(127)}`]) await bench.api.getOrder(id, bench.caller());
    expect(bench.service.requests).toHaveLength(3);
  });
});

describe('an answer of another shape', () => {
  const shapeless: [string, unknown][] = [
    ['null', null],
    ['a list', [{ name: 'orders/7' }]],
    ['a text', 'orders/7'],
    ['a number', 7],
    ['no name', { id: 'orders/7' }],
    ['a name that is no text', { name: 7 }],
    ['a name of nothing', { name: 'wrong/a' }],
    ['a name that leads elsewhere', { name: 'orders/../a' }],
    ['a bare identifier', { name: '7' }],
  ];

  test.each(shapeless)('for a record: %s', async (_what, json) => {
    await using bench = await startBench(answerJson(json));
    const { api } = bench;
    for (const call of [
      () => api.getOrder('7', bench.caller()),
      () => api.createOrder(newOrder, bench.caller()),
      () => api.updateOrder('7', orderUpdate, bench.caller()),
      () => api.getOrganization(bench.caller()),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(InvalidResponseError);
    }
  });

  test('for a record: another one than was asked for', async () => {
    await using bench = await startBench(answerJson({ name: 'orders/8' }));
    const { api } = bench;
    for (const call of [
      () => api.getOrder('7', bench.caller()),
      () => api.updateOrder('7', orderUpdate, bench.caller()),
      () => api.getShipment('8', bench.caller()),
      () => api.getQuote('8', bench.caller()),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(InvalidResponseError);
    }
  });

  test.each([
    ['null', null],
    ['a list without its wrapper', []],
    ['no list', {}],
    ['the list of another resource', { shipments: [] }],
    ['an object for the list', { orders: {} }],
    ['null for the list', { orders: null }],
    ['a token that is no text', { orders: [], nextPageToken: 7 }],
  ])('for a list: %s', async (_what, json) => {
    await using bench = await startBench(answerJson(json));
    const error = await errorOf(bench.api.listOrders({ pageSize: 1 }, bench.caller()));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toMatch(/^GET \/v1\/orders answered /);
  });

  test('a broken row of a list stands in its place, as the error that it is', async () => {
    const rows = [{ name: 'orders/1' }, null, 7, { id: 'orders/4' }, 'orders/5', [], { name: 'orders/7' }];
    await using bench = await startBench(answerJson({ orders: rows, nextPageToken: 'more' }));
    const page = await bench.api.listOrders({ pageSize: 7 }, bench.caller());
    expect(named(page)).toEqual([
      'orders/1',
      'GET /v1/orders answered no record of orders in row 1',
      'GET /v1/orders answered no record of orders in row 2',
      'GET /v1/orders answered no record of orders in row 3',
      'GET /v1/orders answered no record of orders in row 4',
      'GET /v1/orders answered no record of orders in row 5',
      'orders/7',
    ]);
    expect(page.nextPageToken).toBe('more');
  });

  const message = 'channels/1/conversations/17/messages/m1';
  test.each<[string, string, (api: RestApi, caller: Caller) => Promise<Page<{ name: string }>>]>([
    ['orders', 'orders/a', (api, caller) => api.listOrders({ pageSize: 1 }, caller)],
    ['shipments', 'shipments/a', (api, caller) => api.listShipments({ pageSize: 1 }, caller)],
    ['origins', 'origins/a', (api, caller) => api.listOrigins({ pageSize: 1 }, caller)],
    ['locations', 'locations/a', (api, caller) => api.listLocations({ pageSize: 1 }, caller)],
    ['channels', 'channels/a', (api, caller) => api.listChannels({ pageSize: 1 }, caller)],
    [
      'messages',
      message,
      (api, caller) => api.listMessages({ channel: '1', conversation: '17', pageSize: 1 }, caller),
    ],
  ])('a row of %s whose name is of nothing of the kind is a broken row', async (key, name, list) => {
    const foreign = ['wrong/a', `${key}/../a`, `${key}/`, 'a', '', `${name}/b`, `${message}/`, `/${name}`];
    const rows = [...foreign, name].map((each) => ({ name: each }));
    await using bench = await startBench(answerJson({ [key]: rows }));
    const page = await list(bench.api, bench.caller());
    expect(page.rows.slice(0, -1).every((row) => row instanceof InvalidResponseError)).toBe(true);
    expect(page.rows.at(-1)).toEqual({ name });
  });

  test('templates have names of their own choice', async () => {
    const rows = [{ name: 'wrong/a' }, { name: '..' }, { name: '' }];
    await using bench = await startBench(answerJson({ templates: rows }));
    const page = await bench.api.listTemplates({ channel: '1', pageSize: 1 }, bench.caller());
    expect(page.rows).toEqual(rows);
  });

  test.each<[string, (api: RestApi, caller: Caller) => Promise<unknown>]>([
    ['orders/a', (api, caller) => api.createQuote(newQuote, caller)],
    ['quotes/a', (api, caller) => api.createShipment(newShipment, caller)],
    ['shipments/a', (api, caller) => api.createOrder(newOrder, caller)],
    ['organizations/mine', (api, caller) => api.getOrganization(caller)],
    ['foo', (api, caller) => api.getOrganization(caller)],
    ['channels/1', (api, caller) => api.sendMessage('1', '17', { text: 'a' }, caller)],
    [
      'messages/1',
      (api, caller) => api.sendToPhone('1', { recipient: { phone: '1', name: 'a' }, text: 'a' }, caller),
    ],
  ])('for a record: the name %s', async (name, call) => {
    await using bench = await startBench(answerJson({ name }));
    expect(await errorOf(call(bench.api, bench.caller()))).toBeInstanceOf(InvalidResponseError);
  });

  test.each([[{}], [{ nextPageToken: '' }], [{ nextPageToken: null }]])(
    'the last page says so: %j',
    async (token) => {
      await using bench = await startBench(answerJson({ orders: [], ...token }));
      expect(await bench.api.listOrders({ pageSize: 1 }, bench.caller())).toEqual({
        rows: [],
        nextPageToken: undefined,
      });
    },
  );

  test('fields that are not known come through', async () => {
    const order = { name: 'orders/7', colour: 'blue', constructor: 'x' };
    await using bench = await startBench(answerJson(order));
    expect(await bench.api.getOrder('7', bench.caller())).toEqual(order);
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

function named(page: Page<{ name: string }>): string[] {
  return page.rows.map((row) => (row instanceof InvalidResponseError ? row.message : row.name));
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSeed } from '../../../src/sandbox/seed/seed.ts';
import { type Client, faultsOf, openSandbox } from '../client.ts';

const hostile = JSON.parse('{"__proto__":"uno","constructor":"dos","toString":"tres"}');

let client: Client;
beforeAll(async () => {
  client = await openSandbox({
    seed(now) {
      const seed = createSeed(now);
      seed.merchants[0]?.channels[0]?.templates.unshift({
        name: 'hostile',
        language: 'es',
        category: 'UTILITY',
        body: {
          text: '{{__proto__}} {{constructor}} {{toString}}',
          parameters: Object.keys(hostile).map((name) => ({ name, example: name })),
        },
        buttons: [],
      });
      return seed;
    },
  });
});
afterAll(() => client.close());

const conversation = '/v1/channels/ca1/conversations/ca5/messages';

test('GET /v1/channels returns the channels of the seed', async () => {
  expect((await client.get('/v1/channels')).body).toEqual({
    channels: [
      { name: 'channels/ca1', type: 'chat', active: true, chatApp: { phoneNumber: '+576015550142' } },
      { name: 'channels/ca2', type: 'chat', active: true, chatApp: { phoneNumber: '+576045550177' } },
      { name: 'channels/ca3', type: 'chat', active: false, chatApp: { phoneNumber: '+576065550119' } },
    ],
    nextPageToken: '',
  });
});

test('the status of a text message advances with the clock', async () => {
  const { status, body } = await client.post(conversation, { text: 'Hola 👋🏽' });
  expect(status).toBe(201);
  expect(body).toEqual({
    name: 'channels/ca1/conversations/ca5/messages/m018',
    createTime: client.sandbox.clock.now().toISOString(),
    status: 'SENDING',
    contentType: 'TEXT',
    text: 'Hola 👋🏽',
  });
  const statusAfter = async (ms: number) => {
    client.sandbox.clock.advance(ms);
    return (await client.get(`${conversation}?pageSize=1`)).body.messages[0].status;
  };
  expect(await statusAfter(0)).toBe('SENDING');
  expect(await statusAfter(2_000)).toBe('SENT');
  expect(await statusAfter(3_000)).toBe('DELIVERED');
  expect(await statusAfter(60_000)).toBe('READ');
});

test('a few messages get the status FAILED', async () => {
  const path = '/v1/channels/ca1/conversations/ca17/messages';
  for (let count = 0; count < 60; count += 1) await client.post(path, { text: `Número ${count}` });
  client.sandbox.clock.advance(65_000);
  const { messages } = (await client.get(`${path}?pageSize=60`)).body;
  const statuses: string[] = messages.map(({ status }: { status: string }) => status);
  expect(new Set(statuses)).toEqual(new Set(['READ', 'FAILED']));
  expect(statuses.filter((status) => status === 'FAILED').length).toBeLessThan(10);
});

test('texts to the same phone number share one conversation', async () => {
  const send = async (phone: string) =>
    client.post('/v1/channels/ca1/messages', { recipient: { phone, name: 'Zoé' }, text: 'Hola' });
  const first = await send('+57 300 999 0042');
  expect([first.status, first.body.name]).toEqual([200, 'channels/ca1/conversations/ca61/messages/m001']);
  expect((await send('+573009990042')).body.name).toBe('channels/ca1/conversations/ca61/messages/m002');
  expect((await send('+573009990043')).body.name).toBe('channels/ca1/conversations/ca62/messages/m001');
  const { body } = await client.get('/v1/channels/ca1/conversations/ca61/messages');
  expect(body.messages.map(({ name }: { name: string }) => name.slice(-4))).toEqual(['m002', 'm001']);
});

test('a text to the phone number of a conversation continues that conversation', async () => {
  const seeded = createSeed(new Date('2026-11-02T14:00:00Z')).merchants[0]?.channels[0]?.conversations[0];
  const body = { recipient: { phone: seeded?.phone, name: 'Otro nombre' }, text: 'Hola' };
  const { name } = (await client.post('/v1/channels/ca1/messages', body)).body;
  expect(name.startsWith(`${seeded?.name}/messages/`)).toBe(true);
});

test('a template message is returned as it was sent', async () => {
  const template = {
    name: 'pedido_en_camino',
    language: 'es',
    headerParameters: { customer_name: 'Ana María' },
    bodyParameters: { courier: 'Rutandina', city: 'Bogotá', delivery_day: 'martes', order_id: 'ca0001' },
  };
  const { status, body } = await client.post(conversation, { template });
  expect([status, body.contentType, body.template]).toEqual([201, 'TEMPLATE', template]);
  expect(body).not.toHaveProperty('text');
  expect((await client.get(`${conversation}?pageSize=1`)).body.messages).toEqual([body]);
});

test('template parameters can be named like members of Object.prototype', async () => {
  const template = { name: 'hostile', language: 'es', bodyParameters: hostile };
  const sent = await client.post(conversation, { template });
  expect(sent.status).toBe(201);
  const [read] = (await client.get(`${conversation}?pageSize=1`)).body.messages;
  for (const message of [sent.body, read]) {
    expect(Object.entries(message.template.bodyParameters)).toEqual(Object.entries(hostile));
  }
  const without = { ...template, bodyParameters: {} };
  expect(faultsOf(await client.post(conversation, { template: without }))).toEqual([
    'template.bodyParameters.__proto__ is required',
    'template.bodyParameters.constructor is required',
    'template.bodyParameters.toString is required',
  ]);
});

test.each([
  [{}, ['text or template is required']],
  [{ text: 'Hola', template: { name: 'a', language: 'es' } }, ['template cannot be sent together with text']],
  [{ text: '' }, ['text must have at least 1 character']],
  [{ text: null }, ['text must be a text']],
  [
    { template: { name: 'pedido_en_camino', language: 'fr' } },
    ['template refers to an unknown template of channels/ca1: pedido_en_camino in fr'],
  ],
  [{ template: { name: 'pedido_en_camino' } }, ['template.language is required']],
  [
    {
      template: {
        name: 'pedido_en_camino',
        language: 'es',
        headerParameters: { customer_name: 'Ana', toString: 'x' },
        bodyParameters: JSON.parse('{"courier":"a","city":"b","delivery_day":"c","__proto__":"d"}'),
      },
    },
    [
      'template.headerParameters.toString is not a parameter of the template',
      'template.bodyParameters.__proto__ is not a parameter of the template',
      'template.bodyParameters.order_id is required',
    ],
  ],
])('a conversation rejects the message %j', async (body, faults) => {
  const reply = await client.post(conversation, body);
  expect(reply.status).toBe(400);
  expect(faultsOf(reply)).toEqual(faults);
});

test('a template message to a phone number is rejected', async () => {
  const recipient = { phone: '+573009990044', name: 'Zoé' };
  const template = { name: 'gracias_por_tu_compra', language: 'es' };
  expect(faultsOf(await client.post('/v1/channels/ca1/messages', { recipient, template }))).toEqual([
    'text is required',
    'template is not a known field',
  ]);
});

test('an inactive channel rejects messages with 409', async () => {
  const { status, body } = await client.post('/v1/channels/ca3/conversations/ca1/messages', { text: 'Hola' });
  expect([status, body.error.message]).toEqual([409, 'channels/ca3 is not active']);
});

test.each(['/v1/channels/none/conversations/ca5/messages', '/v1/channels/ca1/conversations/none/messages'])(
  'POST and GET %s return 404',
  async (path) => {
    expect((await client.get(path)).status).toBe(404);
    expect((await client.post(path, { text: 'Hola' })).status).toBe(404);
  },
);

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { MessageBodiesDocument, SentTemplatesDocument } from '../../documents.generated.ts';
import { builtInNames, seedWithBuiltInNames } from '../../fixtures/built-in-names-template.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill({}, { seed: seedWithBuiltInNames });
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const conversation = 'channels/ca1/conversations/ca57';
const messages = `/v1/${conversation}/messages`;

/** Sends a message past this server; JSON as text, so that any name can be in it. */
async function send(json: string): Promise<void> {
  const response = await fetch(sandbox.url + messages, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.first}`, 'content-type': 'application/json' },
    body: json,
  });
  expect(response.status, await response.text()).toBe(201);
}

test('a template message returns its values, definition and rendered body', async () => {
  await send(
    JSON.stringify({
      template: {
        name: 'pedido_confirmado',
        language: 'en',
        headerParameters: { 1: 'A-7' },
        bodyParameters: { 1: 'Zoë', 2: 'two cups', 3: '$ 9', 4: '{{1}}' },
      },
    }),
  );
  const { data, calls } = await ask(SentTemplatesDocument, { conversation, first: 1 });
  expect(data).toEqual({
    conversation: {
      messages: {
        nodes: [
          {
            text: null,
            body:
              'Order A-7 confirmed ✅\n\n' +
              'Hi Zoë, we confirm your order: two cups. The total is $ 9 and we ship it to {{1}}.\n\n' +
              'Reply to this message if anything is wrong.',
            template: {
              name: 'pedido_confirmado',
              language: 'en',
              headerParameters: [{ name: '1', value: 'A-7' }],
              bodyParameters: [
                { name: '1', value: 'Zoë' },
                { name: '2', value: 'two cups' },
                { name: '3', value: '$ 9' },
                { name: '4', value: '{{1}}' },
              ],
              definition: { category: 'UTILITY' },
            },
          },
        ],
      },
    },
  });
  expect(calls).toEqual([`GET ${messages}?pageSize=1`, 'GET /v1/channels/ca1/templates?pageSize=100']);
});

test('the name and language of a sent template cost no call', async () => {
  const { data, calls } = await ask(
    `{ conversation(id: "channels/ca1/conversations/ca53") { messages { nodes { template { name language } } } } }`,
  );
  expect(data).toMatchObject({ conversation: { messages: { nodes: [{ template: { language: 'es' } }] } } });
  expect(calls).toEqual(['GET /v1/channels/ca1/conversations/ca53/messages?pageSize=20']);
});

test('the bodies of text messages cost no template call', async () => {
  await send('{"text":"Claro que sí"}');
  const { data, calls } = await ask(MessageBodiesDocument, { conversation, first: 1 });
  expect(data.conversation?.messages?.nodes).toEqual([{ contentType: 'TEXT', body: 'Claro que sí' }]);
  expect(calls).toEqual([`GET ${messages}?pageSize=1`]);
});

test('all messages of a channel share one call for the template list', async () => {
  const showcase = 'channels/ca1/conversations/ca60';
  const { data, calls } = await ask(MessageBodiesDocument, { conversation: showcase, first: 100 });
  const bodies = data.conversation?.messages?.nodes.map((message) => message?.body);
  expect(bodies).toHaveLength(16);
  // The second message was sent from a template that is gone.
  expect(bodies?.flatMap((body, index) => (body === null ? [index] : []))).toEqual([14]);
  expect(bodies).toContain('¡Gracias! 💛\n\nTu opinión nos ayuda a mejorar. ¿Cómo te fue con tu pedido?');
  expect(calls).toEqual([
    `GET /v1/${showcase}/messages?pageSize=100`,
    'GET /v1/channels/ca1/templates?pageSize=100',
  ]);
});

test('conversations of two channels cost one template call per channel', async () => {
  const { calls } = await ask(`{
    a: conversation(id: "channels/ca1/conversations/ca60") { messages { nodes { body template { definition { name } } } } }
    b: conversation(id: "channels/ca1/conversations/ca58") { messages(first: 100) { nodes { body } } }
    c: conversation(id: "channels/ca2/conversations/ca59") { messages(first: 100) { nodes { body } } }
  }`);
  expect(calls.toSorted()).toEqual([
    'GET /v1/channels/ca1/conversations/ca58/messages?pageSize=100',
    'GET /v1/channels/ca1/conversations/ca60/messages?pageSize=20',
    'GET /v1/channels/ca1/templates?pageSize=100',
    'GET /v1/channels/ca2/conversations/ca59/messages?pageSize=100',
    'GET /v1/channels/ca2/templates?pageSize=100',
  ]);
});

test('a message from a deleted template has a null definition and body', async () => {
  const { data, errors } = await ask(SentTemplatesDocument, {
    conversation: 'channels/ca1/conversations/ca60',
    first: 15,
  });
  expect(errors).toBeUndefined();
  expect(data.conversation?.messages?.nodes[14]).toEqual({
    text: null,
    body: null,
    template: {
      name: 'feria_del_hogar',
      language: 'es',
      headerParameters: [],
      bodyParameters: [
        { name: 'customer_name', value: 'Lucía' },
        { name: 'day', value: expect.any(String) },
      ],
      definition: null,
    },
  });
});

test('a failed template call makes only the bodies of template messages null', async () => {
  await send('{"template":{"name":"gracias_por_tu_compra","language":"es"}}');
  await send('{"text":"Con mucho gusto"}');
  sandbox.faults.add({ path: '/v1/channels/ca1/templates', kind: 'status', status: 503 });
  const { data, errors } = await ask(MessageBodiesDocument, { conversation, first: 2 });
  expect(data.conversation?.messages?.nodes).toEqual([
    { contentType: 'TEXT', body: 'Con mucho gusto' },
    { contentType: 'TEMPLATE', body: null },
  ]);
  expect(errors).toMatchObject([
    {
      message: 'GET /v1/channels/ca1/templates returned 503',
      path: ['conversation', 'messages', 'nodes', 1, 'body'],
      extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, upstreamStatus: 503 },
    },
  ]);
});

test('parameters with names such as "__proto__" are returned unchanged', async () => {
  await send(
    '{"template":{"name":"nombres_raros","language":"es","bodyParameters":' +
      '{"__proto__":"uno","constructor":"dos","toString":"tres"}}}',
  );
  const { data, errors } = await ask(SentTemplatesDocument, { conversation, first: 1 });
  expect(errors).toBeUndefined();
  expect(data.conversation?.messages?.nodes).toEqual([
    {
      text: null,
      body: 'uno + dos + tres',
      template: {
        name: 'nombres_raros',
        language: 'es',
        headerParameters: [],
        bodyParameters: builtInNames.map((name, index) => ({
          name,
          value: ['uno', 'dos', 'tres'][index],
        })),
        definition: { category: 'UTILITY' },
      },
    },
  ]);
});

describe.each(['headerParameters', 'bodyParameters'])('a message with invalid %s', (field) => {
  test.each([['a text'], [['a list']], [{ 1: 7 }], [{ 1: null }], [7]])(
    'has a null template and two errors: %j',
    async (parameters) => {
      const template = { name: 'gracias_por_tu_compra', language: 'es', [field]: parameters };
      const message = { name: `${conversation}/messages/m1`, contentType: 'TEMPLATE', template };
      sandbox.faults.add({ path: messages, kind: 'status', status: 200, body: { messages: [message] } });
      const { data, errors } = await ask(`{ conversation(id: "${conversation}") { messages(first: 1) {
      nodes { body template { name ${field} { value } } }
    } } }`);
      expect(data).toEqual({ conversation: { messages: { nodes: [{ body: null, template: null }] } } });
      const node = ['conversation', 'messages', 'nodes', 0];
      const extensions = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
      expect(errors).toHaveLength(2);
      expect(errors).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({ path: [...node, 'body'], extensions }),
          expect.objectContaining({ path: [...node, 'template', field], extensions }),
        ]),
      );
    },
  );
});

test('a template that a cached page lacks is found by one more read', async () => {
  await using cached = await startWaybill({ REFERENCE_DATA_MS: '60000' }, { sandbox });
  const list = 'GET /v1/channels/ca1/templates?pageSize=100';
  const lookUps = `{ channel(id: "ca1") {
    new: template(name: "pedido_confirmado", language: "en") { name }
    same: template(name: "pedido_confirmado", language: "en") { language }
    none: template(name: "no_such_template") { name }
  } }`;
  const show = cached.changeAnswer('/v1/channels/ca1/templates', { templates: [] });
  expect((await cached.ask(lookUps)).data).toEqual({ channel: { new: null, same: null, none: null } });
  show();
  const { data, calls } = await cached.ask(lookUps);
  expect(data).toEqual({
    channel: { new: { name: 'pedido_confirmado' }, same: { language: 'en' }, none: null },
  });
  expect(calls).toEqual([list]);
});

test('a template that a cached page lacks has its body once it is sent', async () => {
  await using cached = await startWaybill({ REFERENCE_DATA_MS: '60000' }, { sandbox });
  const templates = [{ name: 'codigo_de_acceso', language: 'es', body: { text: 'Código {{1}}' } }];
  const show = cached.changeAnswer('/v1/channels/ca1/templates', { templates });
  await cached.ask('{ channel(id: "ca1") { template(name: "codigo_de_acceso") { name } } }');
  show();
  const sendOf = (name: string, values = '') => `sendMessage(input: {
    conversation: "${conversation}", content: { template: { name: "${name}", language: "es" ${values} } }
  }) { ... on SendMessageSuccess { sent { body template { definition { name } } } } }`;
  const { data, calls } = await cached.ask(`mutation {
    old: ${sendOf('codigo_de_acceso', 'bodyParameters: [{ name: "1", value: "7" }]')}
    new: ${sendOf('gracias_por_tu_compra')}
  }`);
  expect(data).toEqual({
    old: { sent: { body: 'Código 7', template: { definition: { name: 'codigo_de_acceso' } } } },
    new: {
      sent: {
        body: expect.stringMatching(/^¡Gracias!/),
        template: { definition: { name: 'gracias_por_tu_compra' } },
      },
    },
  });
  const list = 'GET /v1/channels/ca1/templates?pageSize=100';
  expect(calls).toEqual([`POST ${messages}`, list, `POST ${messages}`]);
});

test('a template of many blanks is filled at once', async () => {
  const text = `Hola {{ ${' '.repeat(100_000)} {{ 1 }}`;
  const templates = [{ name: 'blanks', language: 'es', body: { text } }];
  const show = waybill.changeAnswer('/v1/channels/ca1/templates', { templates });
  const preview = 'preview(bodyParameters: [{ name: "1", value: "Zoë" }]) { body missing unknown }';
  const { data } = await ask(`{ channel(id: "ca1") { template(name: "blanks") { ${preview} } } }`);
  show();
  const body = text.replace('{{ 1 }}', 'Zoë');
  expect(data).toEqual({ channel: { template: { preview: { body, missing: [], unknown: [] } } } });
});

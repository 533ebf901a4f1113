import { afterAll, describe, expect, test } from 'vitest';
import {
  TemplateDefinitionDocument,
  TemplatePageDocument,
  TemplatePreviewDocument,
} from '../../documents.generated.ts';
import { builtInNames, seedWithBuiltInNames } from '../../fixtures/built-in-names-template.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill({}, { seed: seedWithBuiltInNames });
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

const channel = 'ca1';
const forTemplates = ['GET /v1/channels?pageSize=100', 'GET /v1/channels/ca1/templates?pageSize=100'];

describe('the templates of a channel', () => {
  test('are listed in pages', async () => {
    const { data, calls } = await ask(TemplatePageDocument, { channel, first: 2 });
    const after = data.channel?.templates?.pageInfo.endCursor;
    expect(data).toEqual({
      channel: {
        templates: {
          nodes: [
            { name: 'pedido_confirmado', language: 'es' },
            { name: 'pedido_confirmado', language: 'en' },
          ],
          pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
        },
      },
    });
    expect(calls).toEqual(['GET /v1/channels?pageSize=100', 'GET /v1/channels/ca1/templates?pageSize=2']);
    const next = await ask(TemplatePageDocument, { channel, first: 1, after });
    expect(next.data.channel?.templates?.nodes).toEqual([{ name: 'pedido_en_camino', language: 'es' }]);
    expect(next.calls).toEqual([
      'GET /v1/channels?pageSize=100',
      expect.stringMatching(/^GET \/v1\/channels\/ca1\/templates\?pageSize=1&pageToken=[\w-]+$/),
    ]);
  });

  test.each([
    ['es', 'Pedido {{1}} confirmado ✅', 'Ver pedido'],
    ['en', 'Order {{1}} confirmed ✅', 'View order'],
  ])('are found by name and language: %s', async (language, header, button) => {
    const { data, calls } = await ask(
      `query ($language: String) { channel(id: "ca1") { template(name: "pedido_confirmado", language: $language) {
        language header { text } buttons } } }`,
      { language },
    );
    expect(data).toMatchObject({ channel: { template: { language, header: { text: header } } } });
    expect(data).toMatchObject({ channel: { template: { buttons: [button, expect.any(String)] } } });
    expect(calls).toEqual(forTemplates);
  });

  test('are found by name if no language is given', async () => {
    const { data } = await ask(TemplateDefinitionDocument, { channel, name: 'pedido_en_camino' });
    expect(data).toEqual({
      channel: {
        template: {
          name: 'pedido_en_camino',
          language: 'es',
          category: 'UTILITY',
          header: {
            text: '{{customer_name}}, tu pedido va en camino 🚚',
            parameters: [{ name: 'customer_name', example: 'Marcela' }],
          },
          body: {
            text: 'Lo lleva {{courier}} y llega a {{city}} el {{delivery_day}}. Tu número de pedido es {{order_id}}.',
            parameters: [
              { name: 'courier', example: 'Rutandina' },
              { name: 'city', example: 'Popayán' },
              { name: 'delivery_day', example: 'viernes 14 de junio' },
              { name: 'order_id', example: '1042' },
            ],
          },
          footer: 'Gracias por comprar con nosotros.',
          buttons: ['Seguir mi pedido'],
        },
      },
    });
  });

  test('have null for missing parts', async () => {
    const { data } = await ask(TemplateDefinitionDocument, { channel, name: 'codigo_de_acceso' });
    expect(data.channel?.template).toEqual({
      name: 'codigo_de_acceso',
      language: 'es',
      category: 'AUTHENTICATION',
      header: null,
      body: {
        text: '{{1}} es tu código de acceso. No lo compartas.',
        parameters: [{ name: '1', example: '482913' }],
      },
      footer: null,
      buttons: [],
    });
  });

  test.each([
    { name: 'none' },
    { name: 'pedido_confirmado', language: 'pt_BR' },
    { name: 'pedido_confirmado', language: '' },
    { name: '__proto__' },
  ])('are null if the name or language is unknown: %j', async (wanted) => {
    const { data, errors, calls } = await ask(TemplateDefinitionDocument, { channel, ...wanted });
    expect({ data, errors }).toEqual({ data: { channel: { template: null } }, errors: undefined });
    expect(calls).toEqual(forTemplates);
  });
});

describe('Template.preview', () => {
  const preview = async (
    name: string,
    header: Record<string, string> | [string, string][],
    body: Record<string, string> | [string, string][],
  ) => {
    const list = (values: typeof header) =>
      (Array.isArray(values) ? values : Object.entries(values)).map(([name, value]) => ({ name, value }));
    return ask(TemplatePreviewDocument, { channel, name, header: list(header), body: list(body) });
  };

  test('fills in the parameter values without a further call', async () => {
    const { data, calls } = await preview(
      'pedido_confirmado',
      { 1: '1042' },
      { 1: 'Íñigo', 2: 'dos tazas', 3: '$ 1 & $& {{4}}', 4: 'Tunja' },
    );
    expect(data.channel?.template?.preview).toEqual({
      header: 'Pedido 1042 confirmado ✅',
      body: 'Hola Íñigo, confirmamos tu pedido: dos tazas. El valor es $ 1 & $& {{4}} y lo enviamos a Tunja.',
      footer: 'Responde a este mensaje si algo no está bien.',
      missing: [],
      unknown: [],
    });
    expect(calls).toEqual(forTemplates);
  });

  test('lists each missing or unknown name once', async () => {
    const { data } = await preview('pedido_confirmado', { x: 'a' }, { 1: 'Íñigo', 3: '', x: 'b', y: 'c' });
    expect(data.channel?.template?.preview).toEqual({
      header: 'Pedido {{1}} confirmado ✅',
      body: 'Hola Íñigo, confirmamos tu pedido: {{2}}. El valor es  y lo enviamos a {{4}}.',
      footer: 'Responde a este mensaje si algo no está bien.',
      missing: ['1', '2', '4'],
      unknown: ['x', 'y'],
    });
  });

  test('lists all parameter names as missing if no values are given', async () => {
    const { data } = await ask(TemplatePreviewDocument, { channel, name: 'codigo_de_acceso' });
    expect(data.channel?.template?.preview).toEqual({
      header: null,
      body: '{{1}} es tu código de acceso. No lo compartas.',
      footer: null,
      missing: ['1'],
      unknown: [],
    });
  });

  test('accepts parameters with names such as "__proto__"', async () => {
    const values = builtInNames.map((name): [string, string] => [name, `of ${name}`]);
    const filled = await preview('nombres_raros', [], values);
    expect(filled.data.channel?.template?.preview).toMatchObject({
      body: 'of __proto__ + of constructor + of toString',
      missing: [],
      unknown: [],
    });
    const empty = await preview('nombres_raros', [], []);
    expect(empty.data.channel?.template?.preview).toMatchObject({
      body: '{{__proto__}} + {{constructor}} + {{toString}}',
      missing: builtInNames,
    });
    const unknown = await preview('codigo_de_acceso', values, [['1', '123456']]);
    expect(unknown.data.channel?.template?.preview).toMatchObject({
      body: '123456 es tu código de acceso. No lo compartas.',
      missing: [],
      unknown: builtInNames,
    });
  });

  test.each(['headerParameters', 'bodyParameters'])('rejects a repeated name in %s', async (argument) => {
    const twice: [string, string][] = [
      ['1', 'a'],
      ['1', 'a'],
    ];
    const [header, body] = argument === 'headerParameters' ? [twice, []] : [[], twice];
    const { data, errors } = await preview('pedido_confirmado', header ?? [], body ?? []);
    // `preview` may not be null, so that the template goes with it.
    expect(data).toEqual({ channel: { template: null } });
    expect(errors).toMatchObject([
      {
        message: `Each name in "${argument}" must occur only once, but one name occurs twice.`,
        path: ['channel', 'template', 'preview'],
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
  });
});

import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import {
  SendAndReadBodyDocument,
  SendMessageDocument,
  type SendTemplateInput,
  TemplatePreviewDocument,
} from '../../documents.generated.ts';
import { builtInNames, seedWithBuiltInNames } from '../../fixtures/built-in-names-template.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill({}, { seed: seedWithBuiltInNames });
const { ask, sandbox } = waybill;
const hurried = await startWaybill({ UPSTREAM_TIMEOUT_MS: '1500' }, { sandbox });
await learnMerchants(waybill, waybill.sandbox.tokens.first);

afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await hurried[Symbol.asyncDispose]();
  await waybill[Symbol.asyncDispose]();
});

const conversation = 'channels/ca1/conversations/ca57';
const messages = `/v1/${conversation}/messages`;
const templates = '/v1/channels/ca1/templates';
const list = `GET ${templates}?pageSize=100`;
const post = `POST ${messages}`;
/** The call of a repeated key: the newest page of the conversation. */
const newestPage = `GET ${messages}?pageSize=100`;

type Parameters = Extract<SendTemplateInput['bodyParameters'], readonly unknown[]>;

const byName = (values: Record<string, string>): Parameters =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

const confirmed = {
  name: 'pedido_confirmado',
  language: 'es',
  headerParameters: byName({ 1: '1042' }),
  bodyParameters: byName({ 1: 'Íñigo', 2: 'dos tazas ☕', 3: '$ 9', 4: 'Tunja' }),
};

const send = (template: SendTemplateInput, idempotencyKey?: string) =>
  ask(SendMessageDocument, {
    input: { conversation, content: { template }, ...(idempotencyKey && { idempotencyKey }) },
  });

/** The literal bodies of the writes; as text, so that no name in them is taken for anything else. */
const sentBodies = () =>
  sandbox.requests
    .entries()
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.stringify(body));

describe('sendMessage with a template', () => {
  test('checks the template and sends its parameters as maps', async () => {
    const { data, errors, calls } = await send(confirmed);
    expect({ data, errors }).toEqual({
      data: {
        sendMessage: {
          __typename: 'SendMessageSuccess',
          sent: {
            id: expect.stringMatching(/^channels\/ca1\/conversations\/ca57\/messages\/m\d{3}$/),
            status: 'SENDING',
            contentType: 'TEMPLATE',
            text: null,
            template: confirmed,
            conversation: { id: conversation },
          },
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual([list, post]);
    expect(sentBodies()).toEqual([
      '{"template":{"name":"pedido_confirmado","language":"es","headerParameters":{"1":"1042"},' +
        '"bodyParameters":{"1":"Íñigo","2":"dos tazas ☕","3":"$ 9","4":"Tunja"}}}',
    ]);
  });

  test('sends empty maps for a template without parameters', async () => {
    const { data, calls } = await send({ name: 'gracias_por_tu_compra', language: 'es' });
    expect(data.sendMessage.__typename).toBe('SendMessageSuccess');
    expect(calls).toEqual([list, post]);
    expect(sentBodies()).toEqual([
      '{"template":{"name":"gracias_por_tu_compra","language":"es","headerParameters":{},"bodyParameters":{}}}',
    ]);
  });

  test('sends parameters with names such as "__proto__"', async () => {
    const bodyParameters = builtInNames.map((name) => ({ name, value: `of ${name}` }));
    const { data, calls } = await send({ name: 'nombres_raros', language: 'es', bodyParameters });
    expect(data.sendMessage).toMatchObject({ sent: { template: { headerParameters: [], bodyParameters } } });
    expect(calls).toEqual([list, post]);
    expect(sentBodies()).toEqual([
      '{"template":{"name":"nombres_raros","language":"es","headerParameters":{},"bodyParameters":' +
        '{"__proto__":"of __proto__","constructor":"of constructor","toString":"of toString"}}}',
    ]);
  });

  test('returns the rendered body without a further call', async () => {
    const { data, calls } = await ask(SendAndReadBodyDocument, {
      input: { conversation, content: { template: confirmed } },
    });
    expect(data).toEqual({
      sendMessage: {
        sent: {
          body:
            'Pedido 1042 confirmado ✅\n\n' +
            'Hola Íñigo, confirmamos tu pedido: dos tazas ☕. El valor es $ 9 y lo enviamos a Tunja.\n\n' +
            'Responde a este mensaje si algo no está bien.',
        },
      },
    });
    expect(calls).toEqual([list, post]);
  });

  test('finds the template on a later page of the template list', async () => {
    const { language } = confirmed;
    const body = { text: '{{1}}', parameters: [{ name: '1', example: 'x' }] };
    const other = { name: 'otra', language, category: 'UTILITY', body, buttons: [] };
    const pages = [
      { templates: [other], nextPageToken: 'more' },
      { templates: [{ ...other, name: 'tardía' }], nextPageToken: '' },
    ];
    for (const page of pages) {
      sandbox.faults.add({ path: templates, kind: 'status', status: 200, body: page, times: 1 });
    }
    const { data, calls } = await send({ name: 'tardía', language });
    expect(data.sendMessage).toMatchObject({
      fields: [{ path: 'content.template.bodyParameters', message: 'must have a value for "1"' }],
    });
    expect(calls).toEqual([list, `${list}&pageToken=more`]);
  });
});

describe('sendMessage with an invalid template', () => {
  const refused = async (template: SendTemplateInput) => {
    const { data, errors, calls } = await send(template);
    expect({ errors, calls }).toEqual({ errors: undefined, calls: [list] });
    const { sendMessage: result } = data;
    if (result.__typename !== 'InvalidInput')
      throw new TypeError(`Expected faults, but got ${JSON.stringify(data)}`);
    const sentences = result.fields.map(({ path, message }) => `${path} ${message}`);
    expect(result.message).toBe(`The input is invalid, and nothing was written: ${sentences.join('; ')}.`);
    return result.fields;
  };

  test.each(['pedido', '__proto__', 'PEDIDO_CONFIRMADO', ''])('rejects the unknown name %j', async (name) => {
    expect(await refused({ ...confirmed, name })).toEqual([
      {
        path: 'content.template.name',
        message:
          'must be a template of the channel (one of "pedido_confirmado", "pedido_en_camino", "confirmar_direccion", ' +
          '"codigo_de_acceso", "gracias_por_tu_compra", "pago_al_recibir", "pedido_devuelto", "novedades_de_temporada", ' +
          `"carrito_abandonado", "nombres_raros"), but is ${JSON.stringify(name)}`,
      },
    ]);
  });

  test('lists only the first ten known names if the name is unknown', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `t${index + 1}`);
    const body = { templates: names.map((name) => ({ name, language: 'es', body: { text: '' } })) };
    sandbox.faults.add({ path: templates, kind: 'status', status: 200, body });
    expect(await refused(confirmed)).toEqual([
      {
        path: 'content.template.name',
        message:
          'must be a template of the channel (one of "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10" and ' +
          '2 more), but is "pedido_confirmado"',
      },
    ]);
  });

  test('rejects any name on a channel without templates', async () => {
    sandbox.faults.add({ path: templates, kind: 'status', status: 200, body: { templates: [] } });
    expect(await refused(confirmed)).toEqual([
      {
        path: 'content.template.name',
        message: 'must be a template of the channel (none exists), but is "pedido_confirmado"',
      },
    ]);
  });

  test.each(['pt_BR', 'ES', ''])('rejects the unknown language %j', async (language) => {
    expect(await refused({ ...confirmed, language })).toEqual([
      {
        path: 'content.template.language',
        message: `must be a language of the template (one of "es", "en"), but is ${JSON.stringify(language)}`,
      },
    ]);
  });

  test('lists missing and unknown parameters with their paths', async () => {
    const faults = await refused({
      ...confirmed,
      headerParameters: byName({ 7: 'a' }),
      bodyParameters: ['3', 'toString', '1', '5'].map((name) => ({ name, value: 'x' })),
    });
    const ofBody = 'must be a parameter in the body of the template (one of "1", "2", "3", "4"), but is';
    expect(faults).toEqual([
      { path: 'content.template.headerParameters', message: 'must have a value for "1"' },
      {
        path: 'content.template.headerParameters.0.name',
        message: 'must be a parameter in the header of the template (one of "1"), but is "7"',
      },
      { path: 'content.template.bodyParameters', message: 'must have a value for "2"' },
      { path: 'content.template.bodyParameters', message: 'must have a value for "4"' },
      { path: 'content.template.bodyParameters.1.name', message: `${ofBody} "toString"` },
      { path: 'content.template.bodyParameters.3.name', message: `${ofBody} "5"` },
    ]);
  });

  test('rejects values for a missing header or a body without parameters', async () => {
    expect(
      await refused({
        name: 'codigo_de_acceso',
        language: 'es',
        headerParameters: byName({ 1: 'a' }),
        bodyParameters: byName({ 1: '482913' }),
      }),
    ).toEqual([
      {
        path: 'content.template.headerParameters.0.name',
        message: 'must be a parameter in the header of the template (none exists), but is "1"',
      },
    ]);
    const thanks = { name: 'gracias_por_tu_compra', language: 'es', bodyParameters: byName({ a: 'b' }) };
    expect(await refused(thanks)).toEqual([
      {
        path: 'content.template.bodyParameters.0.name',
        message: 'must be a parameter in the body of the template (none exists), but is "a"',
      },
    ]);
  });

  test('lists missing and unknown parameters with names such as "__proto__"', async () => {
    expect(await refused({ name: 'nombres_raros', language: 'es' })).toEqual(
      builtInNames.map((name) => ({
        path: 'content.template.bodyParameters',
        message: `must have a value for "${name}"`,
      })),
    );
    const bodyParameters = ['1', ...builtInNames].map((name) => ({ name, value: 'x' }));
    expect(await refused({ name: 'codigo_de_acceso', language: 'es', bodyParameters })).toEqual(
      builtInNames.map((name, index) => ({
        path: `content.template.bodyParameters.${index + 1}.name`,
        message: `must be a parameter in the body of the template (one of "1"), but is "${name}"`,
      })),
    );
  });

  test('reports the same missing and unknown names as Template.preview', async () => {
    const names = fc.uniqueArray(
      fc.constantFrom('1', '2', '3', '4', 'customer_name', 'city', ...builtInNames),
    );
    const wanted = fc.constantFrom(
      'pedido_confirmado',
      'pedido_en_camino',
      'codigo_de_acceso',
      'nombres_raros',
    );
    await fc.assert(
      fc.asyncProperty(wanted, names, names, async (name, header, body) => {
        const [headerParameters, bodyParameters] = [header, body].map((given) =>
          given.map((name) => ({ name, value: 'x' })),
        );
        const previewed = await ask(TemplatePreviewDocument, {
          channel: 'ca1',
          name,
          header: headerParameters ?? [],
          body: bodyParameters ?? [],
        });
        const preview = previewed.data.channel?.template?.preview;
        const { data } = await send({
          name,
          language: 'es',
          headerParameters: headerParameters ?? [],
          bodyParameters: bodyParameters ?? [],
        });
        const faults = data.sendMessage.__typename === 'InvalidInput' ? data.sendMessage.fields : [];
        const named = (isMissing: boolean) => [
          ...new Set(
            faults
              .filter(({ path }) => path.endsWith('Parameters') === isMissing)
              .map(({ message }) => /"([^"]*)"$/.exec(message)?.[1]),
          ),
        ];
        expect({ missing: named(true), unknown: named(false) }).toEqual({
          missing: preview?.missing,
          unknown: preview?.unknown,
        });
        expect(data.sendMessage.__typename).toBe(faults.length === 0 ? 'SendMessageSuccess' : 'InvalidInput');
      }),
      { numRuns: 60 },
    );
  });
});

/** The row of a template list with these parts. */
const ofParts = (parts: object) => [{ name: 'pedido_confirmado', language: 'es', ...parts }];

describe('a template whose definition cannot be read', () => {
  const unfit = { ...confirmed, bodyParameters: byName({ 1: 'Íñigo', x: 'y' }) };
  /** REST's own faults, which it finds in the sent message: at the entry of a name, or else at the list. */
  const decided = {
    sendMessage: {
      __typename: 'InvalidInput',
      message: expect.stringMatching(
        /^The request is invalid: template\.bodyParameters\.x is not a parameter/,
      ),
      fields: [
        { path: 'content.template.bodyParameters.1.value', message: 'is not a parameter of the template' },
        ...[2, 3, 4].map((name) => ({
          path: 'content.template.bodyParameters',
          message: `${name} is required`,
        })),
      ],
    },
  };

  test.each([
    ['503', { kind: 'status', status: 503 }],
    ['404', { kind: 'status', status: 404 }],
    ['403', { kind: 'status', status: 403 }],
    ['truncated JSON', { kind: 'cut-json' }],
    ['an invalid list', { kind: 'change', change: () => ({ templates: {} }) }],
    ['a connection reset', { kind: 'reset' }],
    ['a partial response', { kind: 'reset-in-body' }],
  ] as const)('is validated by REST if the template list fails with %s', async (_what, fault) => {
    sandbox.faults.add({ path: templates, ...fault });
    const { data, errors, calls } = await send(unfit);
    expect({ data, errors, calls }).toEqual({ data: decided, errors: undefined, calls: [list, post] });
    const fits = await send(confirmed);
    expect(fits.data.sendMessage.__typename).toBe('SendMessageSuccess');
    expect(fits.calls).toEqual([list, post]);
  });

  test('is validated by REST if the template list call times out', async () => {
    sandbox.faults.add({ path: templates, kind: 'hang' });
    const input = { conversation, content: { template: unfit } };
    const { data, errors, calls } = await hurried.ask(SendMessageDocument, { input });
    expect({ data, errors, calls }).toEqual({ data: decided, errors: undefined, calls: [list, post] });
  });

  test('is validated by REST if a later page of the list fails', async () => {
    const body = { templates: [], nextPageToken: 'more' };
    sandbox.faults.add({ path: templates, kind: 'status', status: 200, body, times: 1 });
    sandbox.faults.add({ path: templates, kind: 'status', status: 500 });
    const { data, calls } = await send(unfit);
    expect(data).toEqual(decided);
    expect(calls).toEqual([list, `${list}&pageToken=more`, post]);
  });

  const text = { text: 'Hola {{1}}', parameters: [{ name: '1' }] };

  test.each([
    ['a row of the list is null', [null]],
    ['a row of the list has no name', [{ language: 'es', body: text }]],
    ['a row of the list has no language', [{ name: 'otra', body: text }]],
    ['its body is missing', ofParts({})],
    ['its body is a string', ofParts({ body: 'Hola {{1}}' })],
    ['its body has no text', ofParts({ body: { parameters: [] } })],
    ['its header is a number', ofParts({ body: text, header: 7 })],
    ['its parameters are not a list', ofParts({ body: { ...text, parameters: { 1: 'x' } } })],
    ['its parameters are strings', ofParts({ body: { ...text, parameters: ['1'] } })],
    ['the name of a parameter is a number', ofParts({ body: { ...text, parameters: [{ name: 1 }] } })],
    ['its text has a placeholder without a parameter', ofParts({ body: { ...text, parameters: [] } })],
  ])('is validated by REST if %s', async (_what, rows) => {
    sandbox.faults.add({ path: templates, kind: 'status', status: 200, body: { templates: rows } });
    const { data, errors, calls } = await send(unfit);
    expect({ data, errors, calls }).toEqual({ data: decided, errors: undefined, calls: [list, post] });
  });

  test('does not prevent the validation of other templates', async () => {
    const body = { templates: [null, ...ofParts({ body: text })] };
    sandbox.faults.add({ path: templates, kind: 'status', status: 200, body });
    const { data, calls } = await send({ ...confirmed, headerParameters: [], bodyParameters: [] });
    expect(data.sendMessage).toMatchObject({
      fields: [{ path: 'content.template.bodyParameters', message: 'must have a value for "1"' }],
    });
    expect(calls).toEqual([list]);
  });
});

test('Waybill validates a template whose header and parameters are null', async () => {
  const body = { templates: ofParts({ header: null, body: { text: '{{ a }}', parameters: null } }) };
  sandbox.faults.add({ path: templates, kind: 'status', status: 200, body });
  const { data, calls } = await send({ ...confirmed, headerParameters: [], bodyParameters: [] });
  expect(data.sendMessage).toMatchObject({
    fields: [{ path: 'content.template.bodyParameters', message: 'must have a value for "a"' }],
  });
  expect(calls).toEqual([list]);
});

test('no template is sent if the client disconnects during the template list call', async () => {
  sandbox.faults.add({ path: /templates$/, kind: 'delay', delayMs: 200, times: 1 });
  const gone = new AbortController();
  const query = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { __typename } }';
  const template = { ...confirmed, name: 'no_such_template' };
  sandbox.requests.clear();
  const answer = waybill.fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${sandbox.tokens.first}`,
    },
    body: JSON.stringify({ query, variables: { input: { conversation, content: { template } } } }),
    signal: gone.signal,
  });
  await vi.waitFor(() => expect(sandbox.requests.lines()).toEqual([list]));
  gone.abort();
  await answer.catch(() => {});
  await sandbox.requests.lines();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sandbox.requests.lines()).toEqual([list]);
});

test('sendMessage lists only the first 100 errors of a template', async () => {
  const bodyParameters = Array.from({ length: 3_000 }, (_none, index) => ({
    name: `p${index}`,
    value: '',
  }));
  const { data, calls } = await send({ ...confirmed, bodyParameters });
  const result = data.sendMessage;
  expect(result.__typename === 'InvalidInput' && result.fields.length).toBe(100);
  expect(result.__typename === 'InvalidInput' && result.message.split('; ').length).toBe(100);
  expect(calls.every((call) => call.startsWith('GET '))).toBe(true);
});

describe('a REST error of a template', () => {
  test.each([
    ['template', 'content.template'],
    ['template.name', 'content.template.name'],
    ['template.language', 'content.template.language'],
    ['template.bodyParameters.1', 'content.template.bodyParameters.3.value'],
    ['template.bodyParameters.4', 'content.template.bodyParameters.0.value'],
    ['/template/headerParameters/1', 'content.template.headerParameters.0.value'],
    ['template.bodyParameters.9', 'content.template.bodyParameters', '9 is odd'],
    ['template.body_parameters', 'content.template.bodyParameters'],
  ])('is reported with the input path for the REST field %s', async (field, path, message = 'is odd') => {
    const body = { message: 'No', errors: [{ field, message: 'is odd' }] };
    sandbox.faults.add({ method: 'POST', path: messages, kind: 'status', status: 400, body });
    // A parameter may be called by a number, which is then not its place in the list.
    const bodyParameters = confirmed.bodyParameters.toReversed();
    const { data, errors, calls } = await send({ ...confirmed, bodyParameters });
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: { __typename: 'InvalidInput', message: 'No', fields: [{ path, message }] },
      },
      errors: undefined,
      calls: [list, post],
    });
  });

  test('is reported with the input path of a value that is too long', async () => {
    const { data, calls } = await send({
      name: 'codigo_de_acceso',
      language: 'es',
      bodyParameters: byName({ 1: 'x'.repeat(1025) }),
    });
    expect(data.sendMessage).toMatchObject({
      fields: [
        {
          path: 'content.template.bodyParameters.0.value',
          message: 'must have at most 1024 characters',
        },
      ],
    });
    expect(calls).toEqual([list, post]);
  });

  test.each([
    ['conversation', 'channels/ca1/conversations/ca999', list],
    ['channel', 'channels/ca9/conversations/ca57', 'GET /v1/channels/ca9/templates?pageSize=100'],
  ])('becomes NotFound for a missing %s', async (_what, id, look) => {
    const { data, errors, calls } = await ask(SendMessageDocument, {
      input: { conversation: id, content: { template: confirmed } },
    });
    expect({ data, errors, calls }).toEqual({
      data: {
        sendMessage: {
          __typename: 'NotFound',
          message: expect.stringMatching(/^channels\/[\w/]+ does not exist$/),
          missingId: id,
        },
      },
      errors: undefined,
      calls: [look, `POST /v1/${id}/messages`],
    });
  });
});

describe('the idempotencyKey of a template message', () => {
  test('costs only one read of the newest messages if a request is repeated', async () => {
    const first = await send(confirmed, 'again');
    expect(first.calls).toEqual([list, post]);
    const again = await send(confirmed, 'again');
    expect(again).toEqual({ ...first, calls: [newestPage] });
  });

  test('returns the sent values on a retry even if the newest messages lack them', async () => {
    const first = await send(confirmed, 'old');
    sandbox.faults.add({ method: 'GET', path: messages, kind: 'change', change: () => ({ messages: [] }) });
    const again = await send(confirmed, 'old');
    expect(again).toEqual({ ...first, calls: [newestPage] });
  });

  test('validates and sends a template only once for concurrent requests', async () => {
    const [one, other] = await Promise.all([send(confirmed, 'at once'), send(confirmed, 'at once')]);
    expect(one.data.sendMessage.__typename).toBe('SendMessageSuccess');
    expect(other.data).toEqual(one.data);
    expect(sandbox.requests.lines()).toEqual([list, post]);
  });

  test('can be used again after an InvalidInput result', async () => {
    const refused = await send({ ...confirmed, language: 'fr' }, 'mended');
    expect(refused.data.sendMessage.__typename).toBe('InvalidInput');
    expect(refused.calls).toEqual([list]);
    const mended = await send(confirmed, 'mended');
    expect(mended.data.sendMessage.__typename).toBe('SendMessageSuccess');
    expect(mended.calls).toEqual([list, post]);
  });

  test('costs no call on a retry after a lost response', async () => {
    sandbox.faults.add({ method: 'POST', path: messages, kind: 'applied-then-cut', times: 1 });
    const cut = await send(confirmed, 'cut');
    expect(cut.data.sendMessage).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey: 'cut' });
    expect(cut.calls).toEqual([list, post]);
    const again = await send(confirmed, 'cut');
    expect(again).toEqual({ ...cut, calls: [] });
  });
});

test('two sendMessage fields of one operation share one call for the template list', async () => {
  const { data, calls } = await ask<Record<string, unknown>, unknown>(
    `mutation ($input: SendMessageInput!) {
      a: sendMessage(input: $input) { __typename }
      b: sendMessage(input: $input) { __typename }
    }`,
    { input: { conversation, content: { template: confirmed } } },
  );
  const sent = { __typename: 'SendMessageSuccess' };
  expect(data).toEqual({ a: sent, b: sent });
  expect(calls).toEqual([list, post, post]);
});

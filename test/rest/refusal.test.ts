import { describe, expect, test } from 'vitest';
import { readRefusal } from '../../src/rest/refusal.ts';

const read = (body: unknown) =>
  readRefusal(typeof body === 'string' ? body : JSON.stringify(body), 'secret-token');

describe('the fields of a refusal', () => {
  const field = { path: 'recipient.email', message: 'is no address' };

  test.each<[string, unknown, string | undefined]>([
    [
      'violations within details (Google)',
      {
        error: {
          code: 400,
          message: 'invalid',
          status: 'INVALID_ARGUMENT',
          details: [
            { reason: 'x' },
            { fieldViolations: [{ field: field.path, description: field.message }] },
          ],
        },
      },
      'invalid',
    ],
    [
      'a map of lists (Rails, Laravel)',
      { message: 'invalid', errors: { [field.path]: [field.message] } },
      'invalid',
    ],
    ['a map of texts', { error: 'invalid', fields: { [field.path]: field.message } }, 'invalid'],
    [
      'a list with JSON pointers (Ajv)',
      { message: 'invalid', errors: [{ instancePath: '/recipient/email', message: field.message }] },
      'invalid',
    ],
    [
      'a list under detail (FastAPI)',
      { detail: [{ loc: ['recipient', 'email'], msg: field.message, type: 'value_error' }] },
      undefined,
    ],
    [
      'a list beside a title (RFC 9457)',
      { title: 'invalid', status: 400, errors: [{ name: field.path, reason: field.message }] },
      'invalid',
    ],
    ['violations at the top', { fieldViolations: [{ path: field.path, message: field.message }] }, undefined],
    [
      'google.rpc.BadRequest within details (gRPC-gateway)',
      {
        code: 3,
        message: 'invalid',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            field_violations: [{ field: field.path, description: field.message, reason: 'FORMAT' }],
          },
          {
            '@type': 'type.googleapis.com/google.rpc.DebugInfo',
            detail: 'at app.go:1',
            message: 'at app.go:1',
          },
        ],
      },
      'invalid',
    ],
    [
      'violations in details that are a map',
      {
        error: {
          message: 'invalid',
          details: { fieldViolations: [{ field: field.path, description: field.message }] },
        },
      },
      'invalid',
    ],
    [
      'sentences under message (NestJS)',
      { statusCode: 400, message: [`${field.path} ${field.message}`], error: 'Bad Request' },
      'Bad Request',
    ],
    [
      'constraints under message (class-validator)',
      {
        message: [
          {
            property: 'recipient',
            children: [{ property: 'email', children: [], constraints: { isEmail: field.message } }],
          },
        ],
        error: 'Bad Request',
      },
      'Bad Request',
    ],
    [
      'issues (zod)',
      { issues: [{ code: 'custom', path: ['recipient', 'email'], message: field.message }] },
      undefined,
    ],
    [
      'issues of an error (zod 3)',
      {
        success: false,
        error: { name: 'ZodError', issues: [{ path: ['recipient', 'email'], message: field.message }] },
      },
      undefined,
    ],
    [
      'issues in a text (zod 4)',
      {
        success: false,
        error: {
          name: 'ZodError',
          message: JSON.stringify([{ path: ['recipient', 'email'], message: field.message }], null, 2),
        },
      },
      undefined,
    ],
    [
      'issues with parts of a path (Standard Schema)',
      {
        message: 'invalid',
        issues: [{ path: [{ key: 'recipient' }, { key: 'email' }], message: field.message }],
      },
      'invalid',
    ],
    [
      'a map of errors (zod, flattened)',
      { error: { fieldErrors: { [field.path]: [field.message] } } },
      undefined,
    ],
    [
      'violations (Symfony)',
      {
        title: 'invalid',
        detail: 'recipient.email: is no address',
        violations: [{ propertyPath: field.path, title: field.message, template: 'x' }],
      },
      'recipient.email: is no address',
    ],
    [
      'violations (Zalando)',
      { title: 'invalid', violations: [{ field: field.path, message: field.message }] },
      'invalid',
    ],
    [
      'validationErrors as a list',
      { message: 'invalid', validationErrors: [{ field: field.path, error: field.message }] },
      'invalid',
    ],
    ['validation_errors as a map', { validation_errors: { [field.path]: field.message } }, undefined],
    [
      'invalid-params (RFC 7807)',
      { title: 'invalid', 'invalid-params': [{ name: field.path, reason: field.message }] },
      'invalid',
    ],
    [
      'invalidParams (RFC 7807)',
      { title: 'invalid', invalidParams: [{ name: field.path, reason: field.message }] },
      'invalid',
    ],
    [
      'pointers of fragments (RFC 9457)',
      { title: 'invalid', errors: [{ detail: field.message, pointer: '#/recipient/email' }] },
      'invalid',
    ],
    [
      'pointers of sources (JSON:API)',
      {
        errors: [
          { status: '422', title: 'Invalid', detail: field.message, source: { pointer: '/recipient/email' } },
        ],
      },
      undefined,
    ],
    [
      'parameters of sources (JSON:API)',
      { errors: [{ status: '400', title: field.message, source: { parameter: field.path } }] },
      undefined,
    ],
    [
      'a list of quoted names (Joi)',
      { message: 'invalid', details: [{ message: field.message, path: ['recipient', 'email'], type: 'x' }] },
      'invalid',
    ],
    [
      'default messages (Spring)',
      {
        error: 'Bad Request',
        errors: [{ objectName: 'order', field: field.path, defaultMessage: field.message, rejectedValue: 7 }],
      },
      'Bad Request',
    ],
    [
      'names in capitals (FluentValidation)',
      { Errors: [{ PropertyName: field.path, ErrorMessage: field.message }] },
      undefined,
    ],
    [
      'JSON paths (ASP.NET)',
      { title: 'invalid', errors: { '$.recipient.email': [field.message] } },
      'invalid',
    ],
    [
      'maps within a map (marshmallow)',
      { status: 'invalid', errors: { recipient: { email: [field.message] } } },
      undefined,
    ],
    [
      'a map of faults (Mongoose)',
      { message: 'invalid', errors: { [field.path]: { kind: 'x', path: 'email', message: field.message } } },
      'invalid',
    ],
  ])('%s', (_what, body, message) => {
    expect(read(body)).toEqual({ ...(message === undefined ? {} : { message }), fields: [field] });
  });

  test.each([
    ['recipient.location must be a string', 'recipient.location', 'must be a string'],
    ['notes should not be empty', 'notes', 'should not be empty'],
    ['items.0.weightKg must be positive', 'items.0.weightKg', 'must be positive'],
    ['items[0].weightKg: must be positive', undefined, undefined],
    ['items[0].weightKg wrong', 'items[0].weightKg', 'wrong'],
    ['content_description is too short', 'content_description', 'is too short'],
    ['each value in paymentMethods must be a string', 'paymentMethods', 'each must be a string'],
    [
      'recipient.address.each value in addressLines must be a string',
      'recipient.address.addressLines',
      'each must be a string',
    ],
    ['property colour should not exist', undefined, undefined],
    ['Notes is too short', undefined, undefined],
    ['no such location', undefined, undefined],
    ['notes', undefined, undefined],
    ['see http://h/x', undefined, undefined],
  ])('a sentence starts with its field where it looks like one: %s', (text, path, message) => {
    expect(read({ message: [text], error: 'Bad Request' })).toEqual(
      path === undefined
        ? { message: `Bad Request: ${text}`, fields: [] }
        : { message: 'Bad Request', fields: [{ path, message }] },
    );
  });

  test('each sentence of Fastify is a fault of its own', () => {
    const message = "body/recipient/email must be text, with an @, body must have required property 'notes'";
    expect(read({ error: 'Bad Request', message })).toEqual({
      message: 'Bad Request',
      fields: [
        { path: 'body.recipient.email', message: 'must be text, with an @' },
        { path: 'body', message: "must have required property 'notes'" },
      ],
    });
  });

  test('several messages of one field are one', () => {
    expect(read({ errors: { notes: ['too short', 'not a text'] } }).fields).toEqual([
      { path: 'notes', message: 'too short; not a text' },
    ]);
  });

  test('a field without a message is named all the same', () => {
    expect(read({ errors: [{ field: 'notes' }] }).fields).toEqual([
      { path: 'notes', message: 'was refused' },
    ]);
  });

  test('what names no field is none', () => {
    const errors = [null, 7, 'notes', {}, { message: 'x' }, { field: '' }, { field: 7, message: 'x' }, []];
    expect(read({ errors }).fields).toEqual([]);
    expect(read({ errors: { notes: 7, '': 'x' } }).fields).toEqual([]);
  });

  test('are at most 50', () => {
    const errors = Array.from({ length: 60 }, (_, index) => ({ field: `f${index}`, message: 'x' }));
    expect(read({ errors }).fields).toHaveLength(50);
  });

  test('names that every object has are fields like others', () => {
    expect(read('{"errors":{"__proto__":"a","constructor":"b","toString":"c"}}').fields).toEqual([
      { path: '__proto__', message: 'a' },
      { path: 'constructor', message: 'b' },
      { path: 'toString', message: 'c' },
    ]);
  });
});

describe('the message of a refusal', () => {
  test.each<[string, unknown, string | undefined]>([
    ['message', { message: 'a' }, 'a'],
    ['error as a text', { error: 'a' }, 'a'],
    ['error as an object', { error: { message: 'a' } }, 'a'],
    ['detail', { detail: 'a' }, 'a'],
    ['title', { title: 'a', type: 'about:blank' }, 'a'],
    ['detail rather than title', { title: 'b', detail: 'a' }, 'a'],
    ['beside an error without one', { error: { code: 7 }, message: 'a' }, 'a'],
    ['none', { code: 7 }, undefined],
    ['one that is no text', { message: { text: 'a' } }, undefined],
    ['an empty one', { message: '' }, undefined],
    ['error_description (RFC 6749)', { error: 'invalid_token', error_description: 'a' }, 'a'],
    ['that of an error of no field (JSON:API)', { errors: [{ status: '409', detail: 'a' }] }, 'a'],
    ['with what is of no field', { message: 'a', errors: ['B is c', { message: 'D' }] }, 'a: B is c; D'],
    ['once, where it is told twice', { message: 'a', errors: [{ message: 'a' }] }, 'a'],
    [
      'without what google.rpc has for machines',
      { details: [{ '@type': 'x', detail: 'a', reason: 'b' }] },
      undefined,
    ],
  ])('%s', (_what, body, message) => {
    expect(read(body).message).toBe(message);
  });

  test.each(['', 'null', '7', '"a"', '[]', '[{"message":"a"}]', '<html><h1>a</h1></html>', 'a stack\n at b'])(
    'no object says nothing: %s',
    (body) => {
      expect(read(body)).toEqual({ fields: [] });
    },
  );

  test('a long one is cut', () => {
    expect(read({ message: 'a'.repeat(1_000) }).message).toBe(`${'a'.repeat(300)}…`);
    const [first] = read({ errors: { ['p'.repeat(1_000)]: 'm'.repeat(1_000) } }).fields;
    expect(first).toEqual({ path: `${'p'.repeat(300)}…`, message: `${'m'.repeat(300)}…` });
  });

  test('the access token is blanked wherever it stands', () => {
    const body = { message: 'bad secret-token', errors: { 'secret-token': 'not secret-token secret-token' } };
    expect(read(body)).toEqual({
      message: 'bad <access token>',
      fields: [{ path: '<access token>', message: 'not <access token> <access token>' }],
    });
  });
});

describe('a query in a text is left out', () => {
  test.each([
    ['GET http://h/x?search=ann&token=abc failed', 'GET http://h/x failed'],
    ['/v1/orders?search=ann&token=abc', '/v1/orders'],
    ['no such page: /v1/orders?abc', 'no such page: /v1/orders'],
    ['see "https://h/x?search=ann" and "/y?phone=57", please', 'see "https://h/x" and "/y", please'],
    ['h.example?search=ann failed', 'h.example failed'],
    ['orders?search=ann failed', 'orders failed'],
    ['parameters ?search=ann are wrong', 'parameters  are wrong'],
    ["/x?name=O'Neill&phone=57 failed", '/x failed'],
    ['/x?search=Ann Lee&token=abc failed', '/x failed'],
    ['/x?a=b?token=abc failed', '/x failed'],
    [`/x?search=${'a'.repeat(1_000)}`, '/x'],
  ])('%s', (text, told) => {
    expect(read({ message: text, errors: { notes: text } })).toEqual({
      message: told,
      fields: [{ path: 'notes', message: told }],
    });
  });

  test.each(['Is it /v1/orders?', 'Did you mean "/v1/orders?" or not?', 'Why? a=b', 'What?! No'])(
    'and a question stays: %s',
    (text) => {
      expect(read({ message: text }).message).toBe(text);
    },
  );
});

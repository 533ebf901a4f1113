import { describe, expect, test } from 'vitest';
import { readErrorBody } from '../../../src/rest/client/error-body.ts';

const read = (body: unknown, restHost = 'rest.internal', accessToken = 'secret-token') =>
  readErrorBody(typeof body === 'string' ? body : JSON.stringify(body), { accessToken, restHost });

describe('the fields of an error body', () => {
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
            { '@type': 'x/google.rpc.DebugInfo', detail: 'at app.go:1' },
            { reason: 'x' },
            { fieldViolations: [{ field: field.path, description: field.message, reason: 'FORMAT' }] },
          ],
        },
      },
      'invalid',
    ],
    [
      'a list with pointers (RFC 9457)',
      { title: 'invalid', errors: [{ detail: field.message, pointer: '#/recipient/email' }] },
      'invalid',
    ],
    ['a list of fields', { errors: [{ field: field.path, message: field.message }] }, undefined],
    [
      'a list of fields within details',
      { error: { message: 'invalid', details: [{ field: field.path, message: field.message }] } },
      'invalid',
    ],
  ])('are read from %s', (_what, body, message) => {
    const { code: _code, fields, ...rest } = read(body);
    expect(rest).toEqual(message === undefined ? {} : { message });
    expect(fields.map(({ path, message }) => ({ path, message }))).toEqual([field]);
  });

  test.each<[object, string | undefined]>([
    [{ reason: 'TOO_LONG', code: 'X' }, 'TOO_LONG'],
    [{ code: 'too-long' }, 'TOO_LONG'],
    [{ code: 400, status: 'INVALID_ARGUMENT' }, 'INVALID_ARGUMENT'],
    [{ type: 'https://rest.internal/errors/7' }, undefined],
    [{ code: 'a sentence' }, undefined],
  ])('with %j have the code %s', (source, code) => {
    const { code: bodyCode, fields } = read({ ...source, errors: [{ ...field, ...source, field: 'email' }] });
    expect([bodyCode, fields[0]?.code]).toEqual([code, code]);
  });

  test('omit errors without a field name', () => {
    const errors = [null, 7, 'notes', {}, { message: 'x' }, { field: '' }, { field: 7, message: 'x' }, []];
    expect(read({ errors }).fields).toEqual([]);
    expect(read({ details: { notes: 'x' }, data: { notes: ['x'] } }).fields).toEqual([]);
  });

  test('are limited to 50', () => {
    const errors = Array.from({ length: 60 }, (_, index) => ({ field: `f${index}`, message: 'x' }));
    expect(read({ errors }).fields).toHaveLength(50);
  });
});

describe('the message of an error body', () => {
  test.each<[string, unknown, string | undefined]>([
    ['is the field message', { message: 'a', code: 'x' }, 'a'],
    ['is the field message of an error object', { error: { message: 'a' } }, 'a'],
    ['is the field detail', { detail: 'a' }, 'a'],
    ['is the field title', { title: 'a', type: 'about:blank' }, 'a'],
    ['is the field detail if there is also a title', { title: 'b', detail: 'a' }, 'a'],
    ['is missing if there is no known field', { code: 7 }, undefined],
    ['is missing if the known field is not a string', { message: { text: 'a' } }, undefined],
    ['is missing if the known field is empty', { message: '', error: [] }, undefined],
  ])('%s', (_what, body, message) => {
    expect(read(body).message).toBe(message);
  });

  test.each(['', 'null', '7', '""', '[]', '[{"message":"a"}]', '<html><h1>a</h1></html>', 'a stack\n at b'])(
    'is missing if the body is neither a JSON object nor a sentence: %j',
    (body) => {
      expect(read(body)).toEqual({ fields: [] });
    },
  );
});

describe('the texts of an error body', () => {
  test('are truncated after 300 characters', () => {
    expect(read({ message: 'a'.repeat(1_000) }).message).toBe(`${'a'.repeat(300)}…`);
    const [first] = read({ errors: [{ field: 'p'.repeat(1_000), message: 'm'.repeat(1_000) }] }).fields;
    expect(first).toEqual({ path: `${'p'.repeat(300)}…`, message: `${'m'.repeat(300)}…` });
  });

  test('never contain the access token', () => {
    const errors = [{ field: 'secret-token', message: 'not secret-token secret-token' }];
    expect(read({ message: 'bad secret-token', errors })).toEqual({
      message: 'bad <access token>',
      fields: [{ path: '<access token>', message: 'not <access token> <access token>' }],
    });
  });

  test.each([
    ['t', 'that token is too old'],
    ['7-signs', 'the token 7-signs is too old'],
  ])('keep a token of fewer than 8 characters: %s', (token, message) => {
    expect(read({ message }, '', token)).toEqual({ message, fields: [] });
  });

  test('mask a token of 8 characters', () => {
    const { message } = read({ message: 'no token 8letters' }, '', '8letters');
    expect(message).toBe('no token <access token>');
  });
});

describe('the query of a URL or path in a message', () => {
  test.each([
    ['GET http://h/x?search=ann&token=abc failed', 'GET <URL> failed'],
    ['GET https://h/x?search=Ann Lee&token=abc failed', 'GET <URL> failed'],
    ['GET https://h/x?abc failed', 'GET <URL> failed'],
    ['/v1/orders?search=ann&token=abc', '/v1/orders'],
    ['no such page: /v1/orders?abc', 'no such page: /v1/orders'],
    ['see "https://h/x?search=ann" and "/y?phone=57", please', 'see "<URL>" and "/y", please'],
    ['h.example?search=ann failed', 'h.example failed'],
    ['orders?search=ann failed', 'orders failed'],
    ['parameters ?search=ann are wrong', 'parameters  are wrong'],
    ["/x?name=O'Neill&phone=57 failed", '/x failed'],
    ['/x?search=Ann Lee&token=abc failed', '/x failed'],
    ['/x?a=b?token=abc failed', '/x failed'],
    [`/x?search=${'a'.repeat(1_000)}`, '/x'],
  ])('is removed from $0', (text, expected) => {
    expect(read({ message: text, errors: [{ field: 'notes', message: text }] })).toEqual({
      message: expected,
      fields: [{ path: 'notes', message: expected }],
    });
  });

  test.each(['Is it /v1/orders?', 'Did you mean "/v1/orders?" or not?', 'Why? a=b', 'What?! No'])(
    'is not confused with a question: %s',
    (text) => {
      expect(read({ message: text }).message).toBe(text);
    },
  );
});

describe('a URL, an IP address or the host of the REST service in a message', () => {
  test.each([
    ['see (https://10.0.0.1:8443/docs), or ftp://h.', 'see (<URL>), or <URL>.'],
    ['no such page: //h.example/x', 'no such page: <URL>'],
    ['at postgres://me:pass@db:5432/main', 'at <URL>'],
    ['Is it http://[::1]:80/x?', 'Is it <URL>?'],
    ['connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED <IP address>:5432'],
    ['from 192.168.255.10.', 'from <IP address>.'],
    ['to fe80::1: refused', 'to <IP address>: refused'],
    ['to [2001:db8:0:0:0:0:0:1]:80', 'to [<IP address>]:80'],
    ['to ::1 or ::ffff:10.0.0.1', 'to <IP address> or <IP address>'],
    ['getaddrinfo ENOTFOUND REST.internal', 'getaddrinfo ENOTFOUND <host>'],
    ['at db.rest.internal:80', 'at db.<host>:80'],
  ])('is replaced in %s', (text, expected) => {
    expect(read({ message: text, errors: [{ field: 'notes', message: text }] })).toEqual({
      message: expected,
      fields: [{ path: 'notes', message: expected }],
    });
  });

  test('is also replaced in the path of a field', () => {
    const fields = ['https://h/x', '10.0.0.1', 'rest.internal:80', 'notes'];
    const { fields: told } = read({ errors: fields.map((field) => ({ field, message: 'refused' })) });
    expect(told.map(({ path }) => path)).toEqual(['<URL>', '<IP address>', '<host>:80', 'notes']);
  });

  test('stays in the path of a field if it is a one-word host', () => {
    const errors = [{ field: 'orders', message: 'no orders' }];
    expect(read({ message: 'getaddrinfo ENOTFOUND orders:80; reorders', errors }, 'orders')).toEqual({
      message: 'getaddrinfo ENOTFOUND <host>:80; reorders',
      fields: [{ path: 'orders', message: 'no <host>' }],
    });
  });

  test.each([
    'at 10:30:45, or 2026-11-02T14:00:00.000Z',
    'COP 1.234.567.890 is more than 1.5',
    'version 1.2.3',
    'a :: b, Foo::bar, 00:1a:2b:3c:4d:5e',
    'one//two // three',
    'the rest of internal notes',
  ])('is not confused with other text: %s', (text) => {
    expect(read({ message: text }).message).toBe(text);
  });

  test.each([
    ['a://', ''],
    [':', ''],
    ['1.', ''],
    ['ab:', ''],
    [' //', ''],
    ['?x', ''],
    ['a://a?', ''],
    ['a://a?', '='],
  ])('is searched for in 20 texts of 64 KiB of %j and %j within a second', (text, end) => {
    const start = performance.now();
    for (let count = 0; count < 20; count += 1) read({ message: text.repeat(65_500 / text.length) + end });
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test('does not show a part of a word that ends after 4,096 characters', () => {
    const { message } = read({ message: `Wrong: ${'x'.repeat(4_080)}//rest.example/a?b=c` });
    expect(message).toBe('Wrong: …');
  });
});

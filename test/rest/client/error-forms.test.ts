import { expect, test } from 'vitest';
import { readErrorBody } from '../../../src/rest/client/error-body.ts';
import { fieldForms, messageForms } from '../../fixtures/error-forms.ts';

const read = (body: unknown) =>
  readErrorBody(typeof body === 'string' ? body : JSON.stringify(body), {
    accessToken: 'secret-token',
    restHost: 'rest.internal',
  });

test.each(fieldForms)('the field and the message are read from %s', (_form, body, message) => {
  const { fields, ...told } = read(body);
  const lowerCase = fields.map(({ path, message }) => [path.toLowerCase(), message]);
  expect(lowerCase).toEqual([[expect.stringMatching(/(^|\.)recipient\.email$/), 'is no address']]);
  expect(told.message).toBe(message);
});

test.each(messageForms)('the message is read from %s', (_form, body, message) => {
  const { message: told, fields } = read(body);
  expect([told, fields]).toEqual([message, []]);
});

test.each(fieldForms.filter(([form]) => !/Rails|Django|Laravel|ASP|Mongoose/.test(form)))(
  'no value that the client sent is shown: %s',
  (_form, body) => {
    expect(JSON.stringify(read(body))).not.toContain('"ana"');
  },
);

test.each([
  ['a value under a key for other data', { data: [{ field: 'a', message: 'b' }], meta: { notes: 'x' } }],
  ['a record', { order: { name: 'orders/7', notes: 'Hola', recipient: { email: 'ana@example.com' } } }],
  ['details for developers', { details: ['at app.go:1', { detail: 'at app.go:2' }], debug: { notes: 'x' } }],
  ['a map with values of other kinds', { trace: ['a'], line: 7 }],
  ['errors that are nested too deep', JSON.parse(`${'{"error":'.repeat(9)}{"errors":["a"]}${'}'.repeat(9)}`)],
])('an error shows nothing of %s', (_what, body) => {
  expect(read(body)).toEqual({ fields: [] });
});

test.each([
  ['a map', '{"recipient":'],
  ['a list', '{"errors":['],
  ['a source', '{"source":'],
  ['an error', '{"error":'],
])('a body that nests %s thousands of times is read', (_what, open) => {
  const close = open.endsWith('[') ? ']}' : '}';
  const nested = `${open.repeat(5_000)}{"notes":["a"]}${close.repeat(5_000)}`;
  expect(read(nested)).toEqual({ fields: [] });
  expect(read(`{"errors":[{"message":"a","source":${nested}}]}`)).toEqual({ message: 'a', fields: [] });
});

test.each([
  [
    'errors of a map',
    { errors: Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, ['x']])) },
  ],
  [
    'errors of a list',
    { detail: Array.from({ length: 90 }, (_, index) => ({ loc: ['body', `f${index}`], msg: 'x' })) },
  ],
  ['errors of one field', { errors: { notes: Array(90).fill('x') } }],
])('at most 50 fields are read from the %s', (_what, body) => {
  expect(read(body).fields).toHaveLength(50);
});

test('at most five sentences are shown, on one line of at most 300 characters', () => {
  const errors = Array.from({ length: 9 }, (_, index) => `No ${index}\n  at app.js:7`);
  expect(read({ errors }).message).toBe('No 0; No 1; No 2; No 3; No 4');
  expect(read({ message: ['a'.repeat(200), 'b'.repeat(200)] }).message).toHaveLength(301);
});

test.each([
  ['a page', '<html><h1>Bad Gateway</h1></html>'],
  ['a page with a text before it', 'Error <br> here'],
  ['a stack trace', 'Error: bad\n    at app.js:7'],
  ['a part of JSON', '{"message":"a'],
  ['a list', '["a"]'],
  ['a number', '7'],
  ['punctuation', '--- ...'],
  ['more than 300 characters', 'a '.repeat(200)],
  ['control characters', 'a\u0000b'],
])('a body is no message if it is %s', (_what, body) => {
  expect(read(body)).toEqual({ fields: [] });
});

test('all texts hide the token and the host', () => {
  const secret = 'secret-token at rest.internal, 10.0.0.7';
  const hidden = '<access token> at <host>, <IP address>';
  expect(read(secret)).toEqual({ message: hidden, fields: [] });
  expect(read({ message: [secret] })).toEqual({ message: hidden, fields: [] });
  expect(read({ errors: { [secret]: [secret] } }).fields).toEqual([{ path: hidden, message: hidden }]);
  expect(read({ detail: [{ loc: ['secret-token'], msg: secret }] }).fields).toEqual([
    { path: '<access token>', message: hidden },
  ]);
});

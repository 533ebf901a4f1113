import { expect, test } from 'vitest';
import { isAccessToken } from '../../../src/rest/access-token-form.ts';
import { MissingBearerError } from '../../../src/rest/errors.ts';
import { readBearer } from '../../../src/server/operations/bearer.ts';

const of = (authorization?: string) =>
  readBearer(new Headers(authorization === undefined ? {} : { authorization }));

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc', 'abc'],
  [' Bearer abc ', 'abc'],
  ['Bearer aZ09-._~+/==', 'aZ09-._~+/=='],
  // Tokens of Laravel Sanctum, of a JWT library, in base64, of a user and a password, and in quotes.
  ['Bearer 12|AbCdEfGh', '12|AbCdEfGh'],
  ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2ln_-', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2ln_-'],
  ['Bearer +/8=ab==', '+/8=ab=='],
  ['Bearer =a', '=a'],
  ['Bearer user:secret', 'user:secret'],
  ['Bearer "a"', '"a"'],
  ['Bearer a,b;c', 'a,b;c'],
  ["Bearer !#$%&'()*<>?@[\\]^`{}~", "!#$%&'()*<>?@[\\]^`{}~"],
  [`Bearer ${'a'.repeat(8_192)}`, 'a'.repeat(8_192)],
])('readBearer accepts "%s"', (header, token) => {
  expect(of(header)).toBe(token);
});

const form = 'it has a different form';
const notVisible = 'the access token has characters that are not visible ASCII';

test.each([
  ['', form],
  ['Bearer', form],
  ['Bearer ', form],
  ['abc', form],
  ['Basic YTpi', form],
  ['Bearer a b', form],
  ['Bearer a, Bearer b', form],
  ['Bearerabc', form],
  ['Bearer a\tb', form],
  ['Bearer\tab', form],
  ['Bearer a\u00a0b', form],
  ['Bearer ab\u00a0', form],
  ['Bearer ñ', notVisible],
  ['Bearer 12|caf\xe9', notVisible],
  [`Bearer ${'a'.repeat(8_193)}`, 'the access token has more than 8192 characters'],
  [`Bearer ${'a'.repeat(20_480)}`, 'the access token has more than 8192 characters'],
])('readBearer rejects "%s" without quoting it', (header, problem) => {
  const error = of(header);
  expect(error).toBeInstanceOf(MissingBearerError);
  expect(error).toMatchObject({
    message: `Expected the header "Authorization: Bearer <access token>", but ${problem}.`,
  });
});

// `Headers` refuses these, and Node's parser too.
test.each(['a\nb', 'a\rb', 'a\0b', 'a\x7fb', 'a\x1bb', ''])('no access token is %j', (token) => {
  expect(isAccessToken(token)).toBe(false);
});

test('readBearer reports a missing header', () => {
  expect(of()).toMatchObject({
    name: 'MissingBearerError',
    message: 'Expected the header "Authorization: Bearer <access token>", but it is missing.',
  });
});

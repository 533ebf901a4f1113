import { expect, test } from 'vitest';
import { MissingBearerError } from '../../../src/rest/errors.ts';
import { readBearer } from '../../../src/server/http/request-checks.ts';

const of = (authorization?: string) =>
  readBearer(new Headers(authorization === undefined ? {} : { authorization }));

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc', 'abc'],
  [' Bearer abc ', 'abc'],
  ['Bearer aZ09-._~+/==', 'aZ09-._~+/=='],
  [`Bearer ${'a'.repeat(8_192)}`, 'a'.repeat(8_192)],
])('readBearer accepts "%s"', (header, token) => {
  expect(of(header)).toBe(token);
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  'abc',
  'Basic YTpi',
  'Bearer a b',
  'Bearer a, Bearer b',
  'Bearer "a"',
  'Bearer =a',
  'Bearerabc',
  'Bearer ñ',
  'Bearer a\tb',
  `Bearer ${'a'.repeat(20_480)}`,
])('readBearer rejects "%s" without quoting it', (header) => {
  const error = of(header);
  expect(error).toBeInstanceOf(MissingBearerError);
  expect(error).toMatchObject({
    message: 'Expected the header "Authorization: Bearer <access token>", but it has a different form.',
  });
});

test('readBearer reports a missing header', () => {
  expect(of()).toMatchObject({
    name: 'MissingBearerError',
    message: 'Expected the header "Authorization: Bearer <access token>", but it is missing.',
  });
});

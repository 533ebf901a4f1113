import { expect, test } from 'vitest';
import { contentCoding, isJson } from '../../../src/server/http/content-negotiation.ts';

test.each([
  'application/json',
  'Application/JSON',
  'application/json ; charset=utf-8',
  'application/json;charset=UTF8',
  'application/json; charset="utf-8"',
  'application/json;charset="UTF-8"',
  'application/json; odata=verbose',
  'application/json;odata.metadata=minimal;odata.streaming=true',
  'application/json; profile="https://example.com/a;charset=latin1"',
  'application/json; profile=https://example.com/a',
  'application/json; q=1',
  'application/json; version=1.0; charset=utf-8',
  'application/json;\tIEEE754Compatible=true ',
  'application/json; ext="a\\"b;c"',
  'application/json; a = b',
  'application/json; a',
  'application/json;',
  'application/json;; charset=utf-8 ;',
])('isJson accepts %j', (contentType) => expect(isJson(contentType)).toBe(true));

test.each([
  null,
  '',
  'json',
  'application/jsonp',
  'application/graphql+json',
  'application/json, application/json',
  'application/json; charset=',
  'application/json; charset=latin1',
  'application/json; charset',
  'application/json; charset=""',
  'application/json; odata=verbose; CHARSET="iso-8859-1"',
  'application/json; a="b',
  'application/json; a=b, text/plain',
  'application/json; a="b", application/json',
  'application/json charset=utf-8',
  'application/json; charset=utf-8; charset=utf-16',
  'text/plain; application/json',
])('isJson rejects %j', (contentType) => expect(isJson(contentType)).toBe(false));

test.each<[string | null | undefined, string | undefined]>([
  // What clients send: browsers, Node's fetch, curl, mobile apps.
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['deflate, gzip, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=1.0, gzip;q=0.9, deflate;q=0.8', 'br'],
  // Qualities come before the order of this server.
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['gzip;q=0.001, br;q=0', 'gzip'],
  ['gzip;q=0.5, br;q=0.5', 'br'],
  ['br;q=0.5, *;q=0.8', 'gzip'],
  ['*', 'br'],
  ['*;q=0.1, br;q=0', 'gzip'],
  ['*;q=0, gzip', 'gzip'],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['identity;q=0.5, gzip', 'gzip'],
  // Case and spaces do not matter.
  [' GZIP ; Q=1 ', 'gzip'],
  ['deflate,\tBR', 'br'],
  ['gzip;level=9;q=0.5', 'gzip'],
  // None is accepted.
  [undefined, undefined],
  [null, undefined],
  ['', undefined],
  [', ,', undefined],
  ['identity', undefined],
  ['deflate, zstd', undefined],
  ['gzipped, brotli', undefined],
  ['gzip;q=0, br;q=0.000', undefined],
  ['gzip;q=0', undefined],
  ['*;q=0', undefined],
  ['identity;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  // No quality of HTTP.
  ['gzip;q=high', undefined],
  ['gzip;q=-1', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=NaN', undefined],
])('the accept-encoding header %j selects %s', (acceptEncoding, coding) =>
  expect(contentCoding(1_024, acceptEncoding)).toBe(coding),
);

test('a long content-type is parsed quickly', () => {
  const started = performance.now();
  for (const part of ['; a', '; a=b', 'a', ' ', ';', '"', '; a="', '\\']) {
    const contentType = `application/json; ${part.repeat(16_000 / part.length)}\n`;
    expect(isJson(contentType)).toBe(false);
  }
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('a long accept-encoding header is parsed quickly', () => {
  const started = performance.now();
  for (let count = 0; count < 10; count += 1) {
    expect(contentCoding(1_024, `${'gzip;'.repeat(1_500)}${', '.repeat(4_000)}`)).toBe('gzip');
    expect(contentCoding(1_024, `gzip;${' '.repeat(16_000)}q=0`)).toBe(undefined);
  }
  expect(performance.now() - started).toBeLessThan(1_000);
});

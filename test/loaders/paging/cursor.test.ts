import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCursors, type Position } from '../../../src/loaders/paging/cursor.ts';
import { BadInputError } from '../../../src/rest/errors.ts';

const list = 'orders {"status":["NEW"]}';
const cursors = createCursors('secret-token');
const position: Position = { pageToken: 'a token', rowsBefore: 200, skip: 3, anchor: 'orders/7' };

describe('a cursor', () => {
  test.each<[string, Position]>([
    ['within a page', position],
    ['at the start', { pageToken: undefined, rowsBefore: 0, skip: 0, anchor: undefined }],
    ['with an empty token', { pageToken: '', rowsBefore: 0, skip: 0, anchor: '' }],
    ['with any letters', { pageToken: 'ñ🦤\u0000"\\', rowsBefore: 0, skip: 1_000, anchor: 'orders/á' }],
    ['with a long token', { pageToken: 't'.repeat(8_000), rowsBefore: 0, skip: 0, anchor: undefined }],
  ])('%s comes back as it was', (_what, place) => {
    expect(cursors.decode(list, cursors.encode(list, place))).toEqual(place);
  });

  test('passes through a URL and JSON unharmed', () => {
    expect(cursors.encode(list, position)).toMatch(/^[\w-]+\.[\w-]{22}$/);
  });

  test('is good after a restart, and for the same token only', () => {
    const cursor = cursors.encode(list, position);
    expect(createCursors('secret-token').decode(list, cursor)).toEqual(position);
    expect(() => createCursors('another-token').decode(list, cursor)).toThrow(BadInputError);
  });

  test('holds nothing of the token', () => {
    const cursor = cursors.encode(list, position);
    const payload = Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString();
    expect(payload).toBe('["a token",200,3,"orders/7"]');
  });
});

describe('a cursor that this list did not give', () => {
  const cursor = cursors.encode(list, position);
  const [payload, signature] = cursor.split('.');
  const forged = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');

  test.each([
    ['another list', 'shipments {"status":["NEW"]}'],
    ['another filter', 'orders {"status":["READY"]}'],
    ['no filter', 'orders {}'],
  ])('%s', (_what, otherList) => {
    expect(() => cursors.decode(otherList, cursor)).toThrow(BadInputError);
  });

  test.each([
    ['nothing', ''],
    ['a dot', '.'],
    ['something after it', `${cursor}.x`],
    ['garbage', 'garbage'],
    ['an offset of other servers', Buffer.from('arrayconnection:7').toString('base64')],
    ['without its signature', `${payload}.`],
    ['without its payload', `.${signature}`],
    ['another payload', `${forged(['a token', 4, 'orders/7'])}.${signature}`],
    ['a cut signature', cursor.slice(0, -2)],
    ['a longer signature', `${payload}.${signature}AAAA`],
    ['another signature', `${payload}.${'A'.repeat(22)}`],
    ['letters beyond ASCII', 'ñ.🦤'],
    ['a lone surrogate', '\ud800.\udfff'],
    ['1 MB', 'a'.repeat(1_048_576)],
    ['1 MB and a signature', `${'a'.repeat(1_048_576)}.${signature}`],
  ])('%s', (_what, text) => {
    const before = performance.now();
    expect(() => cursors.decode(list, text)).toThrow(
      new BadInputError(
        'Expected as "after" a cursor that this list gave for the same filters and the same access token. ' +
          'Start again without "after".',
      ),
    );
    expect(performance.now() - before).toBeLessThan(50);
  });

  // A client holds the signing key, its own token, and could sign these.
  test.each([
    ['null', null],
    ['an object', {}],
    ['too short', ['t', 1]],
    ['too long', ['t', 1, 'orders/7', 1]],
    ['a token that is no text', [7, 1, 'orders/7']],
    ['rows that are no number', ['t', '1', 'orders/7']],
    ['rows below none', ['t', -1, 'orders/7']],
    ['half a row', ['t', 0.5, 'orders/7']],
    ['rows beyond counting', ['t', 2 ** 53, 'orders/7']],
    ['no rows', ['t', null, 'orders/7']],
    ['an anchor that is no text', ['t', 1, { name: 'orders/7' }]],
  ])('well signed: %s', (_what, json) => {
    expect(() => cursors.decode(list, signed(forged(json)))).toThrow(BadInputError);
  });

  test('well signed: no JSON', () => {
    expect(() => cursors.decode(list, signed('AAAA'))).toThrow(BadInputError);
  });

  /** Signs as the server does, so that only the payload is at fault. */
  function signed(content: string): string {
    const hmac = createHmac('sha256', 'secret-token').update(`waybill cursor\n${list}\n${content}`).digest();
    return `${content}.${hmac.subarray(0, 16).toString('base64url')}`;
  }

  test('the signature of these tests is the server\u2019s', () => {
    expect(signed(payload ?? '')).toBe(cursor);
  });
});

import { describe, expect, test } from 'vitest';
import { InvalidCursorError, ListCursors, type Position } from '../../../src/loaders/paging/cursor.ts';

const cursors = new ListCursors('orders', { status: ['NEW'] });
const position: Position = { pageToken: 'a token', rowsBefore: 200, skip: 3, anchor: 'orders/7' };

const encode = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
/** The fields of a cursor, without the digest of its list. */
function fieldsOf(cursor: string): unknown[] {
  const [digest, ...fields]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  expect(digest).toMatch(/^[\w-]{11}$/);
  return fields;
}
const [digest]: unknown[] = JSON.parse(Buffer.from(cursors.encode(position), 'base64url').toString());

describe('a cursor', () => {
  test.each<[string, Position]>([
    ['within a page', position],
    ['at the start', { pageToken: undefined, rowsBefore: 0, skip: 0, anchor: undefined }],
    ['with an empty anchor', { pageToken: 't', rowsBefore: 0, skip: 0, anchor: '' }],
    [
      'with non-ASCII and control characters',
      { pageToken: 'ñ🦤\u0000"\\', rowsBefore: 0, skip: 1_000, anchor: 'orders/á' },
    ],
    ['between two rows', { ...position, next: 'orders/8' }],
    ['on a later page', { ...position, firstBefore: 'orders/1', next: 'orders/8' }],
    ['with a page of a joined list', { ...position, next: 'orders/8', joined: 'another token' }],
    ['with only a page of a joined list', { ...position, joined: 'another token' }],
    ['with a long token', { pageToken: 't'.repeat(8_000), rowsBefore: 0, skip: 0, anchor: undefined }],
  ])('decodes to the encoded position: %s', (_what, place) => {
    expect(cursors.decode(cursors.encode(place))).toEqual(place);
  });

  test('leaves out the page of a joined list if both tokens are too long', () => {
    const place = { ...position, pageToken: 't'.repeat(8_000) };
    expect(cursors.decode(cursors.encode({ ...place, joined: 'j'.repeat(8_000) }))).toEqual(place);
  });

  test('needs no escaping in a URL or in JSON', () => {
    expect(cursors.encode(position)).toMatch(/^[\w-]+$/);
  });

  test('is valid in another process', () => {
    const cursor = cursors.encode(position);
    expect(new ListCursors('orders', { status: ['NEW'] }).decode(cursor)).toEqual(position);
    // A constant, because a server of another version must understand the cursor.
    expect(cursor).toBe('WyJuZXJ1R0RDU1FCMiIsImEgdG9rZW4iLDIwMCwzLCJvcmRlcnMvNyJd');
  });

  test('contains no filter values', () => {
    const search = new ListCursors('orders', { search: '+573104567890' });
    expect(fieldsOf(search.encode(position))).toEqual(['a token', 200, 3, 'orders/7']);
  });

  test.each([
    ['the order of the filters', { search: 'a', status: ['NEW'] }, { status: ['NEW'], search: 'a' }],
    ['an undefined filter', { status: undefined }, {}],
  ])('does not depend on %s', (_what, query, sameQuery) => {
    const cursor = new ListCursors('orders', query).encode(position);
    expect(new ListCursors('orders', sameQuery).decode(cursor)).toEqual(position);
  });
});

describe('ListCursors.decode', () => {
  const cursor = cursors.encode(position);

  test.each<[string, ListCursors]>([
    ['another list', new ListCursors('shipments', { status: ['NEW'] })],
    ['another filter', new ListCursors('orders', { status: ['READY'] })],
    ['an additional filter', new ListCursors('orders', { status: ['NEW'], search: 'a' })],
    ['a list without a filter', new ListCursors('orders', {})],
  ])('rejects a cursor of %s', (_what, others) => {
    expect(() => others.decode(cursor)).toThrow(InvalidCursorError);
    expect(() => cursors.decode(others.encode(position))).toThrow(InvalidCursorError);
  });

  test.each([
    ['an empty string', ''],
    ['a dot', '.'],
    ['a cursor followed by more characters', `${cursor}AAAA`],
    ['garbage', 'garbage'],
    ['an offset cursor of another server', Buffer.from('arrayconnection:7').toString('base64')],
    ['a signed cursor of an older version', `${encode(['a token', 200, 3, null])}.${'A'.repeat(22)}`],
    ['half of a cursor', cursor.slice(0, cursor.length / 2)],
    ['two cursors', cursor + cursor],
    ['non-ASCII characters', 'ñ.🦤'],
    ['lone surrogates', '\ud800.\udfff'],
    ['1 MB of letters', 'a'.repeat(1_048_576)],
    ['1 MB of JSON', encode([digest, 'a'.repeat(700_000), 0, 0, null])],
  ])('rejects %s', (_what, text) => {
    const before = performance.now();
    for (let count = 0; count < 20; count += 1)
      expect(() => cursors.decode(text)).toThrow(
        new InvalidCursorError(
          'Expected "after" to be a cursor of this list with the same filters. Start again without "after".',
        ),
      );
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  // The digest is in each cursor of the list, so any client can make these up.
  test.each<[string, unknown]>([
    ['null', null],
    ['only the digest', digest],
    ['an object', { 0: digest, 1: 't', 2: 1, 3: 1, 4: 'orders/7', length: 5 }],
    ['too few items', [digest, 't', 1]],
    ['a wrong digest', ['A'.repeat(11), 't', 1, 1, 'orders/7']],
    ['no digest', ['t', 1, 1, 'orders/7']],
    ['a page token that is not a string', [digest, 7, 1, 1, 'orders/7']],
    ['an empty page token', [digest, '', 1, 1, 'orders/7']],
    ['a page before the first page', [digest, null, 0, 0, null, 'orders/7']],
    ['a row count that is a string', [digest, 't', '1', 1, 'orders/7']],
    ['a negative row count', [digest, 't', 1, -1, 'orders/7']],
    ['a fractional row count', [digest, 't', 0.5, 1, 'orders/7']],
    ['a row count beyond the safe integers', [digest, 't', 1, 2 ** 53, 'orders/7']],
    ['a null row count', [digest, 't', null, 1, 'orders/7']],
    ['a next row that is not a string', [digest, 't', 1, 1, 'orders/7', null, 8]],
    ['an anchor that is not a string', [digest, 't', 1, 1, { name: 'orders/7' }]],
  ])('rejects a cursor with unexpected JSON: %s', (_what, json) => {
    expect(() => cursors.decode(encode(json))).toThrow(InvalidCursorError);
  });

  test('rejects a cursor that has the name of a prototype property as its digest', () => {
    for (const name of ['__proto__', 'constructor']) {
      expect(() => cursors.decode(encode([name, 't', 1, 1, null]))).toThrow(InvalidCursorError);
    }
  });
});

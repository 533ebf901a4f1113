import { describe, expect, test } from 'vitest';
import { decodeText, decodeUtf8 } from '../../src/base/decode-text.ts';

const name = 'Núñez – 20 €';
const json = (charset: string) => `application/json; charset=${charset}`;
/** Windows-1252 has the dash and the euro sign where ISO-8859-1 has control characters. */
const windows1252 = Buffer.from('N\xfa\xf1ez \x96 20 \x80', 'latin1');
const mark = Buffer.from([0xef, 0xbb, 0xbf]);

describe('text', () => {
  test.each<[string, Buffer, string | undefined]>([
    ['without a content type', Buffer.from(name), undefined],
    ['without a charset', Buffer.from(name), 'application/json'],
    ['with an empty charset', Buffer.from(name), json('')],
    ['in UTF-8', Buffer.from(name), json('utf-8')],
    ['in UTF-8 by another label', Buffer.from(name), json('"UTF8"')],
    ['in UTF-8 after another parameter', Buffer.from(name), 'application/json;version=1 ; CharSet = utf-8'],
    ['in windows-1252', windows1252, json('windows-1252')],
    ['in ISO-8859-1, which is read as windows-1252', windows1252, json('ISO-8859-1')],
    ['in UTF-16', Buffer.from(name, 'utf16le'), json('utf-16le')],
    ['in UTF-16 with a byte order mark', Buffer.from(`\ufeff${name}`, 'utf16le'), json('utf-16')],
    [
      'in big-endian UTF-16 with a byte order mark',
      Buffer.from(`\ufeff${name}`, 'utf16le').swap16(),
      json('utf-16'),
    ],
    ['in UTF-8 with a byte order mark', Buffer.concat([mark, Buffer.from(name)]), undefined],
    ['in declared UTF-8 with a byte order mark', Buffer.concat([mark, Buffer.from(name)]), json('utf-8')],
  ])('is decoded %s', (_what, bytes, contentType) => {
    expect(decodeText([bytes], contentType)).toBe(name);
    // The network may split the bytes anywhere.
    expect(
      decodeText(
        [...bytes].map((byte) => Buffer.from([byte])),
        contentType,
      ),
    ).toBe(name);
  });

  test.each<[string, Buffer, string | undefined]>([
    ['ISO-8859-1 without a charset', windows1252, undefined],
    ['ISO-8859-1 in place of UTF-8', windows1252, json('utf-8')],
    ['a character that is cut off', Buffer.from('ñ').subarray(0, 1), undefined],
    ['half of a surrogate pair', Buffer.from([0xed, 0xa0, 0x80]), undefined],
    ['an odd number of bytes of UTF-16', Buffer.from('abc'), json('utf-16le')],
    ['Shift JIS that is cut off', Buffer.from([0x83]), json('shift_jis')],
    ['an unknown charset', Buffer.from('abc'), json('utf-9')],
    ['a charset without a decoder', Buffer.from('abc'), json('utf-32')],
  ])('is undefined for %s', (_what, bytes, contentType) => {
    expect(decodeText([bytes], contentType)).toBeUndefined();
  });

  test('can be empty, and keeps U+FFFD and a byte order mark after the start', () => {
    expect([decodeText([], undefined), decodeText([], json('utf-8')), decodeUtf8(mark)]).toEqual([
      '',
      '',
      '',
    ]);
    expect(decodeText([Buffer.from('a\ufffdb\ufeffc')], undefined)).toBe('a\ufffdb\ufeffc');
  });
});

describe('large text', () => {
  /** Chunks of odd lengths, so that characters are split between chunks. */
  function chunksOf(bytes: Buffer): Buffer[] {
    const chunks: Buffer[] = [];
    for (let start = 0; start < bytes.length; start += 65_537)
      chunks.push(bytes.subarray(start, start + 65_537));
    return chunks;
  }
  const text = `${name}\ufffd`.repeat(60_000);

  test.each([
    ['without its byte order mark', Buffer.concat([mark, Buffer.from(text)])],
    ['if it has no byte order mark', Buffer.from(text)],
  ])('is decoded %s', (_what, bytes) => {
    expect(decodeText(chunksOf(bytes), undefined) === text).toBe(true);
    expect(decodeText([bytes.subarray(0, 1), ...chunksOf(bytes.subarray(1))], undefined) === text).toBe(true);
  });

  test.each([
    ['at the start', 0],
    ['in the middle', 700_000],
    ['at the end', Buffer.byteLength(text) - 1],
  ])('is undefined for one invalid byte %s', (_where, index) => {
    const bytes = Buffer.from(text);
    bytes[index] = 0xff;
    expect(decodeText(chunksOf(bytes), undefined)).toBeUndefined();
  });
});

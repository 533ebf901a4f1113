import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { parseBody, readBody } from '../../src/server/http/body.ts';

const read = (...chunks: string[]) => {
  const body = new PassThrough();
  for (const chunk of chunks) body.write(chunk);
  return { body, outcome: readBody(body, 5) };
};

test.each([
  ['nothing', [], ''],
  ['one piece', ['abc'], 'abc'],
  ['pieces that fill it', ['ab', 'cd', 'e'], 'abcde'],
])('a body of %s is read whole', async (_what, chunks, text) => {
  const { body, outcome } = read(...chunks);
  body.end();
  expect(String(await outcome)).toBe(text);
});

test('a body beyond the limit is refused before its end, and what follows is thrown away', async () => {
  const { body, outcome } = read('abc', 'def');
  expect(await outcome).toMatchObject({ status: 413, code: 'REQUEST_TOO_LARGE' });
  for (let count = 0; count < 100; count += 1) body.write('x'.repeat(10_000));
  await expect.poll(() => body.readableLength).toBe(0);
});

test.each([
  ['breaks off', (body: PassThrough) => body.destroy()],
  ['fails', (body: PassThrough) => body.destroy(new Error('reset'))],
])('a body that %s is none', async (_what, end) => {
  const { body, outcome } = read('ab');
  end(body);
  expect(await outcome).toMatchObject({ status: 400, message: 'The body broke off before its end.' });
  expect(await readBody(body, 5)).toMatchObject({ status: 400 });
});

test.each([
  ['{"query":"é"}', { json: { query: 'é' } }],
  ['[]', { json: [] }],
  ['7', { refusal: { message: 'POST body is expected to be object but received number' } }],
  ['{', { refusal: { message: 'POST body sent invalid JSON.' } }],
])('%s is parsed', (text, parsed) => {
  expect(parseBody(Buffer.from(text))).toMatchObject(parsed);
});

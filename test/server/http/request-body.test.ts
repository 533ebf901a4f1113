import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createBodyBudget, parseBody, readBody } from '../../../src/server/http/request-body.ts';

const budget = createBodyBudget(1_000);
const read = (...chunks: string[]) => {
  const body = new PassThrough();
  for (const chunk of chunks) body.write(chunk);
  return { body, outcome: readBody(body, 5, budget) };
};

test.each([
  ['zero bytes', [], ''],
  ['one chunk', ['abc'], 'abc'],
  ['chunks that reach the limit', ['ab', 'cd', 'e'], 'abcde'],
])('a body of %s is read completely', async (_what, chunks, text) => {
  const { body, outcome } = read(...chunks);
  body.end();
  expect(String(await outcome)).toBe(text);
});

test('a body that exceeds the limit is rejected before it ends', async () => {
  const { body, outcome } = read('abc', 'def');
  expect(await outcome).toMatchObject({ status: 413, code: 'REQUEST_TOO_LARGE' });
  for (let count = 0; count < 100; count += 1) body.write('x'.repeat(10_000));
  await expect.poll(() => body.readableLength).toBe(0);
});

test.each([
  ['ends too early', (body: PassThrough) => body.destroy()],
  ['fails', (body: PassThrough) => body.destroy(new Error('reset'))],
])('a body that %s is rejected with 400', async (_what, end) => {
  const { body, outcome } = read('ab');
  end(body);
  expect(await outcome).toMatchObject({ status: 400, message: 'The body ended too early.' });
  expect(await readBody(body, 5, budget)).toMatchObject({ status: 400 });
});

test('a body in growing chunks is read completely', async () => {
  const body = new PassThrough();
  const outcome = readBody(body, 100_000, createBodyBudget(100_000));
  const pieces = Array.from({ length: 40 }, (_, index) => String.fromCharCode(65 + index).repeat(index ** 2));
  for (const piece of pieces) body.write(piece);
  body.end();
  expect(String(await outcome)).toBe(pieces.join(''));
});

describe('the memory budget of bodies', () => {
  const small = 16_384;
  const large = 20_000;
  const ways: [string, (body: PassThrough) => void, object][] = [
    ['is complete', (body) => body.end(), { length: large }],
    ['ends too early', (body) => body.destroy(), { status: 400 }],
    ['fails', (body) => body.destroy(new Error('reset')), { status: 400 }],
    ['is too large', (body) => body.write('x'.repeat(20_000)), { status: 413 }],
    ['exceeds the budget', (body) => body.write('xx'), { status: 503, code: 'OVERLOADED', retryable: true }],
  ];

  test.each(ways)('is released when a body %s', async (_what, end, ended) => {
    const shared = createBodyBudget(large + 1);
    const first = new PassThrough();
    const reading = readBody(first, 30_000, shared);
    first.write('x'.repeat(large));
    await expect.poll(() => first.readableLength).toBe(0);

    const second = new PassThrough();
    const refused = readBody(second, 30_000, shared);
    second.write('x'.repeat(small + 1));
    expect(await refused).toMatchObject({
      status: 503,
      code: 'OVERLOADED',
      headers: { connection: 'close' },
    });

    end(first);
    expect(await reading).toMatchObject(ended);
    expect(shared.reserve(large + 1, 0)).toBe(true);
  });

  test('does not apply to small bodies', async () => {
    const shared = createBodyBudget(10);
    const body = new PassThrough();
    const reading = readBody(body, 30_000, shared);
    body.end('x'.repeat(small));
    expect(await reading).toHaveLength(small);
  });
});

test.each([
  ['{"query":"é"}', { json: { query: 'é' } }],
  ['\ufeff{"query":"é"}', { json: { query: 'é' } }],
  ['\ufeff\ufeff{}', { httpError: { message: 'The body is not valid JSON.' } }],
  [
    '[]',
    {
      httpError: {
        message: expect.stringMatching(/^The body must be one JSON object, not a list/),
      },
    },
  ],
  ['7', { httpError: { message: 'The body must be a JSON object, but its type is number.' } }],
  ['{', { httpError: { message: 'The body is not valid JSON.' } }],
])('parseBody returns the JSON or an error for %s', (text, parsed) => {
  expect(parseBody(Buffer.from(text))).toMatchObject(parsed);
});

test('a rejected body releases its memory only once', async () => {
  const shared = createBodyBudget(20_000);
  const body = new PassThrough();
  const outcome = readBody(body, 100, shared);
  body.write(Buffer.alloc(60));
  body.write(Buffer.alloc(60));
  expect(await outcome).toMatchObject({ code: 'REQUEST_TOO_LARGE' });
  body.destroy(new Error('The connection broke'));
  await new Promise((resolve) => setImmediate(resolve));
  // All of it, and not a byte more.
  expect([shared.reserve(20_001, 0), shared.reserve(20_000, 0)]).toEqual([false, true]);
});

describe('parseBody', () => {
  const bodyOf = (values: string) => Buffer.from(`{"query":"{ __typename }","variables":{"a":${values}}}`);

  test.each([
    ['nested lists', `${'['.repeat(50_001)}${']'.repeat(50_001)}`],
    ['items', `[${'1,'.repeat(50_000)}1]`],
    ['fields', `{${'"a":1,'.repeat(50_000)}"a":1}`],
  ])('parses no body of more than 50,000 %s', (_what, values) => {
    expect(parseBody(bodyOf(values))).toEqual({
      httpError: {
        status: 400,
        code: 'GRAPHQL_LIMIT_EXCEEDED',
        message: 'The body has more than 50000 values. Split the operation into several.',
        retryable: false,
      },
    });
  });

  test('counts no commas and brackets within texts', () => {
    const text = `${'[,{"\\'.repeat(20_000)},`;
    expect(parseBody(bodyOf(JSON.stringify(text)))).toEqual({
      json: { query: '{ __typename }', variables: { a: text } },
    });
  });
});

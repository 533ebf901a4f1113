import { getIntrospectionQuery } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { documentsTooLarge, ofDepth, order, repeated } from '../../fixtures/documents-too-large.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

describe('a document over a limit', () => {
  test.each(documentsTooLarge)(
    'is rejected before its validation, without a REST call: %s',
    async (_fault, document, limit, allowed, came) => {
      const { status, data, errors, calls } = await ask(document);
      expect(errors?.[0]?.message).toContain(`The limit "${limit}" allows ${allowed}, but there are ${came}`);
      expect({ status, data, codes: errors?.map(({ extensions }) => extensions), calls }).toEqual({
        status: 400,
        data: undefined,
        codes: [{ code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false }],
        calls: [],
      });
    },
  );
});

describe('a document within all limits', () => {
  test.each([
    ['a depth of 12', ofDepth(12)],
    ['30 aliases', order(repeated(30, (index) => `a${index}: id`))],
    ['50 repeats of one field', order('id '.repeat(50))],
    ['brackets in strings', `{ order(id: "${'{[('.repeat(40)}") { id } } # ${'{'.repeat(100)}`],
    ['a comment of 100 KB', `#${'x'.repeat(100_000)}\n{ organization { id } }`],
    ['the introspection query of GraphQL tools', getIntrospectionQuery({ typeDepth: 9 })],
  ])('is accepted: %s', async (_what, document) => {
    const { status, errors } = await ask(document);
    // An id of brackets is the value's fault, not the document's.
    expect(errors?.map(({ extensions }) => extensions.code) ?? []).not.toContain('GRAPHQL_LIMIT_EXCEEDED');
    expect(status).toBe(200);
  });
});

describe('an invalid document', () => {
  const refused = { status: expect.any(Number), data: undefined, calls: [] };
  const invalid = { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false };

  test('gets five errors and a note about the error limit for ten unknown directives', async () => {
    const answer = await ask(order('id @a @b @c @d @e @f @g @h @i @j'));
    expect(answer).toEqual({
      ...refused,
      errors: [
        ...['@a', '@b', '@c', '@d', '@e'].map((name) => ({
          message: `Unknown directive "${name}".`,
          locations: [expect.any(Object)],
          extensions: invalid,
        })),
        {
          message: 'Too many validation errors, error limit reached. Validation aborted.',
          extensions: invalid,
        },
      ],
    });
  });

  test.each([
    ['more tokens than allowed', `{ ${'a '.repeat(100_000)} }`, 'GRAPHQL_PARSE_FAILED'],
    ['4,900 open brackets in a value', `{ node(id: ${'['.repeat(4_900)}`, 'GRAPHQL_VALIDATION_FAILED'],
    ['@defer', '{ order(id: "ca2481") { id ... @defer { notes } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['@stream', '{ orders { nodes @stream(initialCount: 1) { id } } }', 'GRAPHQL_VALIDATION_FAILED'],
  ])('is rejected without a call: %s', async (_fault, document, code) => {
    const { data, errors, calls } = await ask(document);
    const extensions = { code, retryable: false };
    expect({ data, errors, calls }).toMatchObject({ data: undefined, errors: [{ extensions }], calls: [] });
  });

  test('gets one error for two fragments with the same name', async () => {
    const large = `fragment F on Query { ${'orders { nodes { id } } '.repeat(300)} }`;
    const { errors, calls } = await ask(`{ ...F } ${large} fragment F on Query { unknown }`);
    const messages = errors?.map(({ message }) => message);
    expect([messages, calls]).toEqual([['There can be only one fragment named "F".'], []]);
  });

  test('gets a truncated error for an unknown field of 200,000 letters', async () => {
    const { errors, calls } = await ask(order('x'.repeat(200_000)));
    expect([errors?.length, errors?.[0]?.message.length, calls]).toEqual([1, 1_001, []]);
  });

  test('gets a truncated error for an input object of 250,000 characters', async () => {
    const unknown = repeated(49, (index) => `field${index}: 1`);
    const document = `mutation { createOrder(input: { ${unknown} text: "${'x'.repeat(250_000)}" }) { __typename } }`;
    const { errors, calls } = await ask(document);
    expect([errors?.map(({ message }) => message.length), calls]).toEqual([[1_001, 68], []]);
    expect(errors?.[1]?.message).toBe('Too many validation errors, error limit reached. Validation aborted.');
  });

  test('is rejected if a variable is named "__proto__"', async () => {
    const query = 'query ($__proto__: String) { orders(search: $__proto__) { nodes { id } } }';
    expect(await ask(query, JSON.parse('{ "__proto__": "Nobody" }'))).toEqual({
      ...refused,
      errors: [
        {
          message: 'A variable can\u2019t be named "__proto__". Choose another name.',
          locations: [{ line: 1, column: 8 }],
          extensions: invalid,
        },
      ],
    });
  });

  test('is rejected if its fragments form a cycle', async () => {
    expect(
      await ask(
        `{ order(id: "a") { ...A } } fragment A on Order { ...B ${'recipient { firstName } '.repeat(200)} }
        fragment B on Order { ...A }`,
      ),
    ).toEqual({
      ...refused,
      errors: [
        {
          message: 'Cannot spread fragment "A" within itself via "B".',
          locations: expect.any(Array),
          extensions: invalid,
        },
      ],
    });
  });

  test('is rejected if its introspection forms a cycle', async () => {
    const circle = '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }';
    expect(await ask(circle)).toEqual({
      ...refused,
      errors: [
        {
          message: 'Maximum introspection depth exceeded',
          locations: expect.any(Array),
          extensions: invalid,
        },
      ],
    });
  });

  test('gets five errors and a note about the error limit for many conflicting fields', async () => {
    const merges = repeated(50, (index) => `orders(first: ${index}) { nodes { id } }`);
    const { errors, calls } = await ask(order(`recipient { ${merges} }`));
    expect([errors?.length, errors?.[0]?.extensions, calls]).toEqual([6, invalid, []]);
    expect(errors?.[0]?.message).toMatch(/^Fields "orders" conflict because they have differing arguments/);
  });
});

test('the node limit also applies to an introspection without a token', async () => {
  const types = 'types { fields { name args { name type { name fields { name } } } } }';
  const answer = await ask(
    `{ __schema { ${repeated(25, (index) => `a${index}: ${types}`)} } }`,
    undefined,
    null,
  );
  expect(answer).toEqual({
    status: 400,
    data: undefined,
    errors: [
      {
        message: expect.stringMatching(
          /^The limit "nodes" allows 3000, but there are \d+ objects that the operation may return\./,
        ),
        locations: [{ line: 1, column: 1 }],
        extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false },
      },
    ],
    calls: [],
  });
});

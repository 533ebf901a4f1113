import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type DefinitionNode, type DocumentNode, GraphQLError, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createBoundedMap } from '../src/server/documents/bounded-map.ts';
import { createDocuments } from '../src/server/documents/documents.ts';
import { perOperation } from '../src/server/documents/per-operation.ts';
import { startWaybill } from './harness.ts';

describe('a bounded map', () => {
  test('forgets what was used least recently, when there are too many', () => {
    const map = createBoundedMap<number>({ maxEntries: 2, maxBytes: 100 });
    map.set('a', 1, 1);
    map.set('b', 2, 1);
    expect(map.get('a')).toBe(1);
    map.set('c', 3, 1);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3]);
    expect([map.size, map.bytes]).toEqual([2, 2]);
  });

  test('forgets as many as it takes, when they are too large', () => {
    const map = createBoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) map.set(key, index, 25);
    map.set('e', 4, 60);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => map.get(key))).toEqual([
      undefined,
      undefined,
      undefined,
      3,
      4,
    ]);
    expect([map.size, map.bytes]).toEqual([2, 85]);
  });

  test('counts what is kept anew under the same key once', () => {
    const map = createBoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 90);
    map.set('a', 2, 50);
    expect([map.get('a'), map.size, map.bytes]).toEqual([2, 1, 50]);
  });

  test('gives out what it then has no more', () => {
    const map = createBoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 90);
    expect(map.take('a')).toMatchObject({ value: 1, bytes: 90 });
    expect([map.take('a'), map.size, map.bytes]).toEqual([undefined, 0, 0]);
  });

  test('drives nothing out for what it can\u2019t hold', () => {
    const map = createBoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 90);
    map.set('b', 2, 101);
    expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
    const none = createBoundedMap<number>({ maxEntries: 10, maxBytes: 0 });
    none.set('a', 1, 1);
    expect(none.size).toBe(0);
  });
});

describe('documents', () => {
  /** Documents whose readings are listed; those with an operation `Refused` are refused. */
  function listed(maxEntries: number, maxBytes = 1_000_000) {
    const readings: string[] = [];
    const documents = createDocuments(
      {
        parse(text) {
          readings.push(text);
          return parse(text);
        },
        validate: ({ loc }) => (loc?.source.body.includes('Refused') ? [new GraphQLError('refused')] : []),
      },
      { maxEntries, maxBytes },
    );
    return { readings, documents };
  }

  test('are read once, whether they may be run or not', () => {
    const { readings, documents } = listed(100);
    for (const text of ['{ a }', 'query Refused { a }', '{ a', '{ a }', 'query Refused { a }', '{ a']) {
      documents.of(text);
    }
    expect(readings).toEqual(['{ a }', 'query Refused { a }', '{ a']);
    expect(documents.of('{ a }')).toEqual({ document: parse('{ a }'), errors: [] });
    expect(documents.of('{ a')).toEqual({ document: undefined, errors: [expect.any(GraphQLError)] });
  });

  test('that are refused drive out none that may be run', () => {
    const { readings, documents } = listed(32);
    documents.of('{ a }');
    for (let index = 0; index < 100; index += 1) documents.of(`query Refused${index} { a }`);
    readings.length = 0;
    documents.of('{ a }');
    for (const index of [99, 98, 97]) documents.of(`query Refused${index} { a }`);
    // A sixteenth of what is kept are refused ones.
    expect(readings).toEqual(['query Refused97 { a }']);
  });

  test('count by what they take in memory, which is many times their text', () => {
    const { readings, documents } = listed(100, 240_000);
    // 38 tokens each, in 76 characters: a quarter, which those have that were asked for once, is room for one alone.
    const [first, second] = ['b', 'c'].map((name) => `{ ${`${name} `.repeat(36)} }`);
    for (const text of [first, second, first]) documents.of(text ?? '');
    expect(readings).toEqual([first, second, first]);
  });

  test('that are asked for once drive out none that is asked for again', () => {
    const { readings, documents } = listed(32);
    for (const text of ['{ a }', '{ a }', '{ b }']) documents.of(text);
    for (let index = 0; index < 100; index += 1) documents.of(`{ a${index} }`);
    readings.length = 0;
    for (const text of ['{ a }', '{ a99 }', '{ b }']) documents.of(text);
    expect(readings).toEqual(['{ b }']);
  });

  test('that are too large for a quarter are kept with those that are asked for again', () => {
    // 38 tokens, some 40 KB.
    const { readings, documents } = listed(100, 100_000);
    const text = `{ ${'b '.repeat(36)} }`;
    for (let use = 0; use < 2; use += 1) documents.of(text);
    expect(readings).toEqual([text]);
  });

  test('whose errors are looked at are not used by that', () => {
    const { readings, documents } = listed(32);
    for (let look = 0; look < 2; look += 1) expect(documents.errorsOf('{ a }')).toEqual([]);
    for (let index = 0; index < 100; index += 1) documents.of(`{ a${index} }`);
    readings.length = 0;
    documents.of('{ a }');
    expect(readings).toEqual(['{ a }']);
  });

  test('that are known can be had without reading', () => {
    const { readings, documents } = listed(100);
    expect(documents.known('{ a }')).toBe(undefined);
    const found = documents.of('{ a }');
    expect(documents.known('{ a }')).toBe(found);
    expect(readings).toEqual(['{ a }']);
  });

  test('that leave no stack to read them are not kept', () => {
    const documents = createDocuments({
      parse: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
      validate: () => [],
    });
    expect(() => documents.of('{ a }')).toThrow(RangeError);
  });

  test('have what is computed of their operations computed once', () => {
    const computed: [DefinitionNode, DocumentNode][] = [];
    const compute = perOperation((definition, document) => {
      computed.push([definition, document]);
      return undefined;
    });
    const operations = ['query A { a } query B { a }', '{ a }', '{ a }']
      .map((text) => parse(text))
      .flatMap((document) =>
        document.definitions
          .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
          .map((definition) => [definition, document] as const),
      );
    for (const [definition, document] of [...operations, ...operations]) compute(definition, document);
    expect(computed).toEqual(operations);
    expect(computed).toHaveLength(4);
  });
});

describe('an answer', () => {
  test('is the same when its document is known, also that of a refusal', async () => {
    await using waybill = await startWaybill();
    for (const query of [
      '{ orders(first: 1) { nodes { id } } }',
      '{ orders(first: 1) { nodes { id } }',
      '{ ordrs { id } }',
      'query A { __typename } query B { __typename }',
      '',
    ]) {
      const [first, second, third] = [
        await waybill.ask(query),
        await waybill.ask(query),
        await waybill.ask(query),
      ];
      expect([second, third]).toEqual([first, first]);
    }
  });

  test('is the same where no document is kept', async () => {
    await using waybill = await startWaybill({ DOCUMENT_CACHE_BYTES: '0' });
    const query = '{ orders(first: 1) { nodes { id } } }';
    expect(await waybill.ask(query)).toEqual(await waybill.ask(query));
  });
});

test('2,000 distinct documents of 100 KB leave the heap within what is set for documents', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    resolve(import.meta.dirname, 'fixtures/many-documents.ts'),
  ]);
  const { grownBytes, codes } = JSON.parse(stdout);
  expect(codes).toEqual({ none: 1_000, GRAPHQL_VALIDATION_FAILED: 500, GRAPHQL_PARSE_FAILED: 500 });
  expect(grownBytes).toBeLessThan((64 + 4) * 1024 * 1024);
}, 120_000);

test('the errors of what is refused keep no trace of where they were made, and others do', () => {
  const documents = createDocuments({
    parse,
    validate: () => [new GraphQLError('Nothing is allowed.')],
  });
  for (const text of ['}', '{ a }']) {
    const errors = documents.errorsOf(text);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.stack).not.toMatch(/^ +at /m);
  }
  expect(new Error('another').stack).toMatch(/^ +at /m);
});

test('a fault of the validation itself says where it is', () => {
  const documents = createDocuments({
    parse,
    validate() {
      throw new TypeError('a mistake');
    },
  });
  expect(() => documents.of('{ a }')).toThrow(
    expect.objectContaining({ stack: expect.stringMatching(/^ +at /m) }),
  );
});

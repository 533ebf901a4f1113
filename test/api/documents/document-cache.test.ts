import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type DefinitionNode, type DocumentNode, GraphQLError, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { perOperation } from '../../../src/server/document-syntax/operation-memo.ts';
import { createDocumentCache } from '../../../src/server/documents/document-cache.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { startWaybill } from '../../harness.ts';

describe('the document cache', () => {
  /** Documents whose readings are listed; those with an operation `Refused` are refused. */
  function listed(maxBytes = 4_000_000) {
    const readings: string[] = [];
    const reading = {
      parse(text: string) {
        readings.push(text);
        return parse(text);
      },
      validate: ({ loc }: DocumentNode) =>
        loc?.source.body.includes('Refused') ? [new GraphQLError('refused')] : [],
    };
    return { readings, documents: createDocumentCache(reading, maxBytes) };
  }

  test('parses each document once, even if it is invalid', () => {
    const { readings, documents } = listed();
    for (const text of ['{ a }', 'query Refused { a }', '{ a', '{ a }', 'query Refused { a }', '{ a']) {
      documents.load(text);
    }
    expect(readings).toEqual(['{ a }', 'query Refused { a }', '{ a']);
    expect(documents.load('{ a }')).toEqual({ document: parse('{ a }'), errors: [] });
    expect(documents.load('{ a')).toEqual({ document: undefined, errors: [expect.any(GraphQLError)] });
  });

  test('evicts the least recently used document at the memory limit', () => {
    // 38 tokens each, in 76 characters, are some 40 KB. A quarter has room for one of them.
    const { readings, documents } = listed(240_000);
    const [first = '', second = ''] = ['b', 'c'].map((name) => `{ ${`${name} `.repeat(36)} }`);
    for (const text of [first, second, first]) documents.load(text);
    expect(readings).toEqual([first, second, first]);
  });

  test('evicts new documents before a promoted document', () => {
    const { readings, documents } = listed(400_000);
    const { document } = documents.load('{ a }');
    documents.load('{ b }');
    if (document !== undefined) documents.promote(document);
    for (let index = 0; index < 100; index += 1) {
      for (let again = 0; again < 2; again += 1) documents.load(`query New${index} { a }`);
      documents.load(`query Refused${index} { a }`);
    }
    readings.length = 0;
    for (const text of ['{ a }', '{ b }']) documents.load(text);
    expect(readings).toEqual(['{ b }']);
  });

  test('returns a cached document without parsing it again', () => {
    const { readings, documents } = listed();
    expect(documents.cached('{ a }')).toBe(undefined);
    const found = documents.load('{ a }');
    expect(documents.cached('{ a }')).toBe(found);
    expect(readings).toEqual(['{ a }']);
  });

  test('rethrows the RangeError of a document that overflows the stack', () => {
    const documents = createDocumentCache(
      {
        parse: () => {
          throw new RangeError('Maximum call stack size exceeded');
        },
        validate: () => [],
      },
      1_000_000,
    );
    expect(() => documents.load('{ a }')).toThrow(RangeError);
  });
});

test('perOperation computes a value once for each operation', () => {
  const computed: [DefinitionNode, DocumentNode][] = [];
  const compute = perOperation((definition, document) => {
    return computed.push([definition, document]);
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

test('unknown tokens evict no document that an accepted token has used', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  await using waybill = await startWaybill({}, { documentCacheBytes: 400_000, telemetry });
  const parsed = async () => {
    const { body = '' } = (await telemetry.metrics?.page()) ?? {};
    return Number(/^waybill_documents_parsed_total (\d+)$/m.exec(body)?.[1]);
  };
  const query = '{ organization { id } }';
  // REST accepts the token in the first operation.
  for (let use = 0; use < 2; use += 1) await waybill.ask(query);
  for (let index = 0; index < 50; index += 1) {
    const ofStranger = `query Q${index} { organization { id } }`;
    for (let use = 0; use < 2; use += 1) await waybill.ask(ofStranger, {}, 'stranger');
  }
  expect(await parsed()).toBe(51);
  await waybill.ask(query);
  expect(await parsed()).toBe(51);
  await waybill.ask('query Q0 { organization { id } }', {}, 'stranger');
  expect(await parsed()).toBe(52);
});

describe('a cached document', () => {
  test('gets the same response as on its first use, even if the document is invalid', async () => {
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
});

test('a cached document runs before most of 50 new documents', async () => {
  await using waybill = await startWaybill();
  const known = '{ __typename }';
  await waybill.ask(known);
  const finished: string[] = [];
  const send = async (name: string, query: string) => {
    const { data } = await waybill.ask(query);
    expect(data).toBeDefined();
    finished.push(name);
  };
  const sent = Array.from({ length: 50 }, (_, index) => send('new', `{ new${index}: __typename }`));
  await Promise.all([...sent, send('known', known)]);
  expect(finished.indexOf('known')).toBeLessThan(25);
});

test('2,000 distinct documents of 100 KB stay within the memory limit of the cache', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    resolve(import.meta.dirname, '../../fixtures/many-documents.ts'),
  ]);
  const { grownBytes, codes } = JSON.parse(stdout);
  expect(codes).toEqual({ none: 1_000, GRAPHQL_VALIDATION_FAILED: 500, GRAPHQL_PARSE_FAILED: 500 });
  expect(grownBytes).toBeLessThan((64 + 4) * 1024 * 1024);
}, 120_000);

test('the errors of rejected documents have no stack trace', () => {
  const originalError = new Error('The value is none.');
  const documents = createDocumentCache(
    { parse, validate: () => [new GraphQLError('Nothing is allowed.', { originalError })] },
    1_000_000,
  );
  for (const text of ['}', '{ a }']) {
    const { errors } = documents.load(text);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.stack).not.toMatch(/^ +at /m);
    expect(errors[0]?.originalError?.stack ?? '').not.toMatch(/^ +at /m);
  }
  expect(new Error('another').stack).toMatch(/^ +at /m);
});

test('an internal error of the validation has a stack trace', () => {
  const validate = () => {
    throw new TypeError('a mistake');
  };
  const documents = createDocumentCache({ parse, validate }, 1_000_000);
  expect(() => documents.load('{ a }')).toThrow(
    expect.objectContaining({ stack: expect.stringMatching(/^ +at /m) }),
  );
});

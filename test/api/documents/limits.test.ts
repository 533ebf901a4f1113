import { getNamedType, getOperationAST, isInterfaceType, isLeafType, isObjectType, parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { validationByAccess } from '../../../src/server/documents/schema-access.ts';
import { createExecutor } from '../../../src/server/execution/executor.ts';
import { parseWithin, validateWithin } from '../../../src/server/limits/document-limits.ts';
import { fixedLimits, type Limits } from '../../../src/server/limits/limits.ts';
import { introspectionItems, listSize } from '../../../src/server/limits/list-size.ts';
import { createLimitCheck } from '../../../src/server/limits/operation-limits.ts';
import { order, repeated } from '../../fixtures/documents-too-large.ts';
import { startWaybill } from '../../harness.ts';

const limits: Limits = { ...fixedLimits, nodes: 3_000 };
const waybill = await startWaybill();
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

test('each list field of the schema has an estimated number of items', () => {
  const unknown: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) {
      try {
        const size = listSize(type, field);
        // A page of a list that says of itself how long it is at most.
        if (size?.by === 'first') expect(size.maximum, field.name).toBeLessThanOrEqual(1_000);
        const isConnection = getNamedType(field.type).name.endsWith('Connection');
        expect(size?.by === 'first', `${type.name}.${field.name}`).toBe(isConnection);
      } catch (error) {
        unknown.push(String(error));
      }
    }
  }
  expect(unknown).toEqual([]);
});

test('the introspection estimate covers all types of the schema', () => {
  expect(Object.keys(schema.getTypeMap()).length).toBeLessThanOrEqual(
    introspectionItems['__Schema.types'] ?? 0,
  );
});

/** How many nodes an operation has, as its refusal says where none is allowed. */
function nodesOf(query: string, variables: Record<string, unknown> = {}): number {
  const check = createLimitCheck(schema, { ...limits, nodes: -1 });
  const document = parse(query);
  const definition = getOperationAST(document);
  if (!definition) throw new Error(`No single operation: ${query}`);
  const error = check({ document, definition, variables });
  const message = typeof error === 'number' ? '' : error.message;
  const [, count] = /there are (\S+) objects that the operation may return/.exec(message) ?? [];
  return Number(count) > 1e100 ? Number.POSITIVE_INFINITY : Number(count);
}

describe('the node count', () => {
  const first = 'query ($first: Int) { orders(first: $first) { nodes { id shipment { id } } } }';

  test.each<[query: string, variables: Record<string, unknown>, nodes: number]>([
    ['{ __typename organization { balance { cents } } }', {}, 1],
    ['{ order(id: "a") { id recipient { address { locality } } } }', {}, 1],
    // The rows that REST is asked for.
    ['{ orders { pageInfo { hasNextPage } } }', {}, 20],
    ['{ orders(first: 0) { pageInfo { hasNextPage } } }', {}, 1],
    ['{ orders(first: 5) { nodes { recipient { orders(first: 0) { nodes { id } } } } } }', {}, 10],
    ['{ orders { nodes { id } } }', {}, 20],
    ['{ orders(first: null) { nodes { id } } }', {}, 20],
    ['{ orders(first: 0) { nodes { id shipment { id } } } }', {}, 2],
    ['{ orders(first: 7) { edges { cursor node { id } } } }', {}, 7],
    ['{ orders(first: 7) { nodes { id } edges { node { shipment { id } } } } }', {}, 21],
    [first, { first: 1_000 }, 2_000],
    [first, {}, 40],
    [first, { first: null }, 40],
    [first, { first: 'many' }, 2],
    ['query ($first: Int = 3) { orders(first: $first) { nodes { id } } }', {}, 3],
    ['query ($first: Int = 3) { orders(first: $first) { nodes { id } } }', { first: 5 }, 5],
    ['query ($toString: Int = 3) { orders(first: $toString) { nodes { id } } }', {}, 3],
    ['{ nodes(ids: ["a", "b"]) { id } }', {}, 2],
    ['{ nodes(ids: "a") { id } }', {}, 1],
    [
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { shipment { id } } } }',
      { ids: ['a', 'b'] },
      4,
    ],
    ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: 'a' }, 1],
    ['{ quote(id: "a") { offers { courier { id } } } }', {}, 21],
    ['{ a: orders(first: 5) { nodes { id } } b: orders(first: 6) { nodes { id } } }', {}, 11],
    ['{ orders(first: 5) { pageInfo { endCursor again: endCursor } } }', {}, 6],
    // Fields that a client can make fail more often than once in an object.
    ['{ orders(first: 5) { nodes { sellingPrice { formatted } } } }', {}, 5],
    ['{ orders(first: 5) { nodes { sellingPrice { formatted(locale: "x") } } } }', {}, 10],
    ['{ shipments(first: 5) { nodes { a: totalCost { cents } b: totalCost { cents } } } }', {}, 10],
    ['{ shipments(first: 5) { nodes { a: createTime b: createTime c: createTime } } }', {}, 15],
    ['{ orders(first: 5) { nodes { a: status b: status } } }', {}, 10],
    // Each repetition of a field is one more value in every row, also of a field that cannot be null.
    ['{ orders(first: 5) { nodes { notes } } }', {}, 5],
    ['{ orders(first: 5) { nodes { a: notes } } }', {}, 5],
    ['{ orders(first: 5) { nodes { a: notes b: notes c: notes } } }', {}, 15],
    ['{ orders(first: 5) { nodes { notes notes ... on Order { notes } } } }', {}, 5],
    [
      '{ orders(first: 5) { nodes { notes ... on Order { b: notes } ... { c: notes } ...F } } } fragment F on Order { d: notes }',
      {},
      20,
    ],
    ['{ orders(first: 5) { nodes { id ... on Node { b: id } } } }', {}, 10],
    ['{ orders(first: 5) { nodes { a: id b: id c: __typename d: __typename } } }', {}, 15],
    ['{ orders(first: 5) { nodes { a: recipient { email } b: recipient { email phoneNumber } } } }', {}, 10],
    [
      '{ orders(first: 5) { nodes { recipient { a: email b: email address { a: locality b: locality } } } } }',
      {},
      15,
    ],
    ['{ orders(first: 5) { nodes { a: paymentMethods b: paymentMethods } } }', {}, 10],
    ['{ orders(first: 5) { edges { a: cursor b: cursor node { id } } } }', {}, 10],
    ['{ orders(first: 5) { edges { a: node { notes } b: node { notes } } } }', {}, 10],
    ['{ orders(first: 5) { a: nodes { notes } b: nodes { notes } edges { node { notes } } } }', {}, 15],
    ['{ quote(id: "a") { offers { a: status b: status } } }', {}, 21],
    ['{ a: __typename b: __typename c: __typename }', {}, 2],
    // The fields of different types never come from one object.
    ['{ nodes(ids: ["a", "b"]) { id ... on Order { id a: status } ... on Shipment { b: status } } }', {}, 2],
    ['{ nodes(ids: ["a", "b"]) { a: id ... on Order { b: id } ... on Shipment { c: id } } }', {}, 6],
    // What is answered as one is counted as one.
    [
      '{ orders(first: 5) { nodes { shipment { id } } } ...F } fragment F on Query { orders(first: 5) { nodes { shipment { status } } } }',
      {},
      10,
    ],
    // Fields with one response name under different type conditions count each.
    [
      '{ node(id: "a") { ... on Shipment { a: order { id } } ... on Order { a: recipient { orders(first: 9) { nodes { id } } } } } }',
      {},
      11,
    ],
    // Lists within lists.
    [
      'query ($all: Int, $each: Int) { orders(first: $all) { nodes { recipient { orders(first: $each) { nodes { id } } } } } }',
      { all: 100, each: 99 },
      10_000,
    ],
    ['mutation { updateOrder(input: { id: "a" }) { ... on UpdateOrderSuccess { order { id } } } }', {}, 11],
    [
      'mutation ($inputs: [UpdateOrderInput!]!) { updateOrders(inputs: $inputs) { ... on UpdateOrderSuccess { order { id } } } }',
      { inputs: [{}, {}, {}] },
      // Ten for each write.
      36,
    ],
  ])('of %s with the variables %j is %d', (query, variables, nodes) => {
    expect(nodesOf(query, variables)).toBe(nodes);
  });

  test.each([
    [
      '120 nested lists in an empty list',
      `{ orders(first: 0) { nodes { ${'recipient { orders(first: 1000) { nodes { '.repeat(120)} id ${'} } } '.repeat(120)} } } }`,
    ],
    [
      '40 nested lists in a list of 1,000 orders',
      `{ orders(first: 1000) { nodes { ${'recipient { orders(first: 1000) { nodes { '.repeat(40)} id ${'} } } '.repeat(40)} } } }`,
    ],
  ])('exceeds 1e100 for %s', (_what, query) => {
    expect(nodesOf(query)).toBe(Number.POSITIVE_INFINITY);
  });

  test('depends on the variable values of each request', async () => {
    const query = `query ($all: Int, $each: Int) {
      orders(first: $all) { nodes { recipient { orders(first: $each) { nodes { id } } } } }
    }`;
    expect((await ask(query, { all: 1, each: 1 })).errors).toBeUndefined();
    expect(await ask(query, { all: 100, each: 100 })).toEqual({
      status: 400,
      data: undefined,
      errors: [
        {
          message:
            'The limit "nodes" allows 3000, but there are 10100 objects that the operation may return. ' +
            'Lower "first", nest fewer lists, or select each field once.',
          locations: [{ line: 1, column: 1 }],
          extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false },
        },
      ],
      calls: [],
    });
    expect((await ask(query, { all: 1, each: 1 })).errors).toBeUndefined();
  });
});

describe('input values', () => {
  const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';

  const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
  const send = (variables: string) => {
    waybill.sandbox.requests.clear();
    return waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
      },
      body: `{"query":${JSON.stringify(nodes)},"variables":${variables}}`,
    });
  };

  test('are rejected without a REST call if they are nested 9,000 levels deep', async () => {
    const response = await send(`{"ids":${deep}}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { retryable: false } }] });
    expect(waybill.sandbox.requests.lines()).toEqual([]);
  });

  test('of an unknown variable are ignored, also 9,000 levels deep', async () => {
    const response = await send(`{"ids":[],"more":${deep}}`);
    expect([response.status, await response.json()]).toMatchObject([200, { data: { nodes: [] } }]);
  });

  test('are not checked if the request has no access token', async () => {
    const { status, errors } = await ask(nodes, { ids: Array(10_001).fill('orders/a') }, null);
    expect([status, errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  });
});

test('the argument "first" is rejected if it exceeds the maximum page size of the list', async () => {
  const channel = (first: number) =>
    `{ channel(id: "ca1") { templates(first: ${first}) { nodes { name } } } }`;
  expect((await ask(channel(101))).errors?.[0]?.message).toBe(
    'Expected "first" of Channel.templates to be from 0 to 100, but got 101.',
  );
  expect((await ask(channel(100))).errors).toBeUndefined();
});

describe('a document', () => {
  const fragmentOfOrder = (index: number) => {
    const names = ['id', 'createTime', 'notes', 'status', 'contentDescription', 'referenceId', 'updateTime'];
    const others = ['fulfiller', 'referenceGid', 'referenceUrl', '__typename'];
    return `fragment F${index} on Order { ${[...names, ...others][index % 11]} }`;
  };
  test.each<[limit: keyof Limits, document: string]>([
    ['documentCharacters', `${'\n'.repeat(1_000_000)}${order('a b c d e f')}`],
    ['tokens', `{ order(id: [${'[]'.repeat(125_000)}]) { id } }`],
    ['fragments', `${order(repeated(540, (index) => `...F${index}`))} ${repeated(540, fragmentOfOrder)}`],
    ['repeats', order('shipment { order { shipment { order { id } } } } '.repeat(380))],
  ])('can block the event loop for more than 50 ms without the limit "%s"', (limit, document) => {
    const lifted = { ...limits, [limit]: 10_000_000 };
    const validation = validationByAccess.public;
    const check = (within: Limits) =>
      validateWithin(within, schema, parseWithin(within, document), validation);
    const startMs = performance.now();
    check(lifted);
    expect(performance.now() - startMs).toBeGreaterThan(50);
  });

  // 30 to 100 ms, by the speed of the machine.
  test('takes more than five times as long to validate without the limit "selections"', () => {
    const lifted = { ...limits, selections: 10_000_000 };
    const fragments = repeated(
      98,
      (index) => `fragment F${index} on Query { ...F${index + 1} ${index < 48 ? '__typename' : ''} }`,
    );
    const spreads = repeated(570, (index) => `query Q${index} { __typename ...F0 }`);
    const document = parseWithin(lifted, `${spreads} ${fragments} fragment F98 on Query { __typename }`);
    const fastestMs = [lifted, limits].map(() => Number.POSITIVE_INFINITY);
    // In turn, because other work on the machine delays single rounds.
    for (let round = 0; round < 8; round += 1) {
      for (const [index, within] of [lifted, limits].entries()) {
        const startMs = performance.now();
        const errors = validateWithin(within, schema, document, validationByAccess.public);
        fastestMs[index] = Math.min(fastestMs[index] ?? 0, performance.now() - startMs);
        expect(errors).toHaveLength(index);
      }
    }
    const [without = 0, withLimit = 0] = fastestMs;
    expect(without).toBeGreaterThan(5 * withLimit);
  });

  test('can block the event loop for more than 50 ms without the limit "values"', () => {
    const document = parse(
      'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }',
    );
    const definition = getOperationAST(document);
    if (!definition) throw new Error('Expected an operation.');
    const input = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`field${index}`, 1]));
    const startMs = performance.now();
    createExecutor(schema)({ document, definition, variables: { input } }, {});
    expect(performance.now() - startMs).toBeGreaterThan(50);
  });

  test('can block the event loop for over 50 ms without the limits "aliases" and "nodes"', async () => {
    const environment = { MAX_NODES: '1000000' };
    const lifted = { sandbox: waybill.sandbox, limits: { aliases: 10_000 } };
    await using other = await startWaybill(environment, lifted);
    const fields = repeated(1_500, (index) => `a${index}: status`);
    const startMs = performance.now();
    const { errors } = await other.ask(`{ orders(first: 100) { nodes { ${fields} } } }`);
    expect(errors).toBeUndefined();
    expect(performance.now() - startMs).toBeGreaterThan(50);
  });
});

describe('an operation', () => {
  test('can make more than 100 REST calls without the limit "depth"', async () => {
    await using other = await startWaybill({}, { sandbox: waybill.sandbox, limits: { depth: 1_000 } });
    const statuses = ['READY', 'DELIVERED', 'CONFIRMED', 'CANCELLED', 'RETURN'];
    // A page for each set of statuses with that of the order. Each page is read after the one around it.
    const pages = (status: string, inner: string) =>
      Array.from({ length: 32 }, (_, set) =>
        [status, ...statuses.filter((_status, bit) => (set >> bit) & 1)].join(),
      ).reduce(
        (fields, set) => `recipient { orders(first: 1, status: [${set}]) { nodes { ${fields} } } }`,
        inner,
      );
    const returning = pages('IN_PROGRESS', pages('NEW', 'id'));
    const query = `{ a: order(id: "ca2481") { ${returning} } b: order(id: "ca2500") { ${pages('NEW', pages('NEW, IN_PROGRESS', 'id'))} } }`;
    const { errors, calls } = await other.ask(query);
    expect([errors, calls.length > 100]).toEqual([undefined, true]);
  });

  test('can make more than 100 REST calls without the limit "nodes"', async () => {
    await using other = await startWaybill({ MAX_NODES: '10000' }, { sandbox: waybill.sandbox });
    const query = '{ orders(first: 1000) { nodes { recipient { orders(first: 3) { nodes { id } } } } } }';
    const { calls } = await other.ask(query);
    expect(calls.length).toBeGreaterThan(100);
  });

  test('can make more than 100 REST calls without the limit "writes"', async () => {
    const unlimited = { writes: 1_000 };
    await using other = await startWaybill({}, { sandbox: waybill.sandbox, limits: unlimited });
    const inputs = Array.from({ length: 101 }, (_, index) => ({ id: `ca${2000 + index}`, notes: 'changed' }));
    const { calls } = await other.ask(
      'mutation ($inputs: [UpdateOrderInput!]!) { updateOrders(inputs: $inputs) { __typename } }',
      { inputs },
    );
    expect(calls).toHaveLength(101);
  });
});

test('a query for 29 empty lists in each of 1,000 orders is rejected without a call', async () => {
  const fields = Array.from({ length: 29 }, (_, index) => `f${index}: orders(first: 0) { nodes { id } }`);
  const answer = await ask(`{ orders(first: 1000) { nodes { recipient { ${fields.join(' ')} } } } }`);
  expect(answer).toMatchObject({ status: 400, data: undefined, calls: [] });
  expect(answer.errors?.[0]?.message).toMatch(/^The limit "nodes" allows 3000, but there are 30000 objects/);
});

describe('the limit of nodes for repetitions in a page of 1,000 orders', () => {
  const page = (fields: string) => `{ orders(first: 1000) { nodes { ${fields} } } }`;
  const aliases = (field: string) => repeated(29, (index) => `a${index}: ${field}`);

  test.each([
    ['a field that cannot be null', page(aliases('notes'))],
    ['the id', page(aliases('id'))],
    ['__typename', page(aliases('__typename'))],
    ['a small object', page(aliases('recipient { address { addressLines } }'))],
    ['a field of a small object', page(`recipient { ${aliases('firstName')} }`)],
    [
      'a field in fragments',
      `${page(`${repeated(29, (index) => `...F${index}`)}`)} ${repeated(29, (index) => `fragment F${index} on Order { a${index}: notes }`)}`,
    ],
    ['the list of rows', `{ orders(first: 1000) { ${aliases('nodes { notes }')} } }`],
    ['the node of an edge', `{ orders(first: 1000) { edges { ${aliases('node { notes }')} } } }`],
  ])('rejects 29 aliases without a REST call: %s', async (_what, query) => {
    const { status, data, errors, calls } = await ask(query);
    expect([status, data, errors?.[0]?.extensions.code, calls]).toEqual([
      400,
      undefined,
      'GRAPHQL_LIMIT_EXCEEDED',
      [],
    ]);
    expect(errors?.[0]?.message).toMatch(/^The limit "nodes" allows 3000, but there are (29|30)000 objects/);
  });

  test('allows every field of the record once', () => {
    expect(nodesOf(page(everyFieldOf('Order')))).toBe(1_000);
  });

  /** Selects each field of a type once, without arguments and without related records. */
  function everyFieldOf(typeName: string): string {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) throw new Error(`${typeName} is no object type.`);
    return Object.values(type.getFields())
      .map((field): string => {
        const fieldType = getNamedType(field.type);
        if (isLeafType(fieldType)) return field.name;
        const isRecord = !isObjectType(fieldType) || fieldType.getInterfaces().length > 0;
        if (isRecord || field.args.length > 0) return '';
        return `${field.name} { ${everyFieldOf(fieldType.name)} }`;
      })
      .join(' ');
  }
});

describe('the node limit', () => {
  const aliases = (field: string) =>
    Array.from({ length: 9 }, (_, index) => `a${index}: ${field} { formatted(locale: "!") }`).join(' ');

  test.each([
    [
      'an invalid locale in two amounts',
      `{ shipments(first: 50) { nodes { shipmentCost { formatted(locale: "!") } totalCost { formatted(locale: "!") } } } }`,
    ],
    [
      'an invalid locale in one amount with nine aliases',
      `{ shipments(first: 50) { nodes { ${aliases('totalCost')} } } }`,
    ],
    ['invalid ids', `{ a: nodes(ids: ["x", "y"]) { id } b: nodes(ids: ["x", "y"]) { id } }`],
  ])('limits the number of errors: %s', async (_what, query) => {
    const { errors = [], data } = await ask(query);
    expect(data).toBeDefined();
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(nodesOf(query));
  });

  test('rejects an operation without a REST call if it could cause too many errors', async () => {
    const answer = await ask(`{ shipments(first: 1000) { nodes { ${aliases('totalCost')} } } }`);
    expect(answer).toMatchObject({ status: 400, data: undefined, calls: [] });
    expect(answer.errors?.[0]?.message).toMatch(
      /^The limit "nodes" allows 3000, but there are 18000 objects/,
    );
  });
});

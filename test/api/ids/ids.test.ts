import { type GraphQLOutputType, getNamedType } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { invalidIds } from '../../fixtures/identifiers.ts';
import { knownIdFor, knownRecords } from '../../fixtures/known-records.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

const idArguments = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) =>
  field.args
    .filter(({ type }) => getNamedType(type).name === 'ID')
    .map((argument) => ({ field, argument: `${argument.name}: ${argument.type}` })),
);
const lookups = idArguments.filter(({ argument }) => argument === 'id: ID!').map(({ field }) => field);

const nodeLookup = lookups.find(({ name }) => name === 'node');

/** The collections of all ids. */
const collections = [...new Set(knownRecords.map(({ id }) => id.split('/')[0] ?? ''))];

/** Invalid ids of a type. Couriers are nodes, too. */
const invalidFor = (type: GraphQLOutputType) =>
  invalidIds.map(([what, id]): [string, string] =>
    id === 'couriers/rutandina' && ['Node', 'Courier'].includes(getNamedType(type).name)
      ? ['the id of an unknown collection', 'tariffs/rutandina']
      : [what, id],
  );

test('every lookup by id is tested', () => {
  const others = idArguments.filter(({ field }) => !lookups.includes(field));
  // A courier filters a list: `test/api/lists/fulfilment.test.ts`.
  expect(others.map(({ field, argument }) => `${field.name}(${argument})`)).toEqual([
    'nodes(ids: [ID!]!)',
    'shipments(courier: ID)',
  ]);
  expect(nodeLookup).toBeDefined();
  expect(lookups.length).toBeGreaterThanOrEqual(8);
});

describe.each(lookups)('the query field $name', (lookup) => {
  const { name: field } = lookup;
  const knownId = knownIdFor(lookup);

  /** Asks for the id and expects it to be refused without a call; answers what was told. */
  async function refusal(id: string): Promise<string | undefined> {
    const { status, data, errors, calls } = await ask(
      `query ($id: ID!) { ${field}(id: $id) { id __typename } }`,
      { id },
    );
    expect({ status, data, calls }).toEqual({ status: 200, data: { [field]: null }, calls: [] });
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^Expected .*, but got ".*"/s),
        locations: [{ line: 1, column: 20 }],
        path: [field],
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    return errors?.[0]?.message;
  }

  test.each(invalidFor(lookup.type))('rejects an invalid id without a call: %s', async (_what, id) => {
    const message = await refusal(id);
    // Cut, and without a character that could forge a line of a log.
    expect(message?.length).toBeLessThan(300);
    expect(message).toMatch(/^[\x20-\x7eé😀…]*$/u);
  });

  test('rejects the full ids of all other collections without a call', async () => {
    const others =
      field === 'node'
        ? []
        : collections.filter((collection) => collection !== knownId.replace(/\/[^/]+$/, ''));
    for (const collection of others) await refusal(`${collection}/ca1`);
    for (const collection of others) await refusal(`${collection}/..`);
  });

  test('accepts an identifier of 128 characters', async () => {
    const { errors } = await ask(`query ($id: ID!) { ${field}(id: $id) { id } }`, {
      id: knownId.replace(/[^/]+$/, 'a'.repeat(128)),
    });
    expect(errors).toBeUndefined();
  });

  test('rejects an id that is null, missing, or not a string', async () => {
    for (const id of ['null', '1.5', 'true', '["a"]', '{ a: 1 }', 'a']) {
      const { status, data, errors, calls } = await ask(`{ ${field}(id: ${id}) { id } }`);
      expect({ status, data, calls }).toEqual({ status: 200, data: undefined, calls: [] });
      expect(errors).toMatchObject([{ extensions: { code: expect.any(String) } }]);
    }
    const { errors, calls } = await ask(`{ ${field} { id } }`);
    expect(errors).toHaveLength(1);
    expect(calls).toEqual([]);
  });
});

test('a numeric id is treated as a string of digits', async () => {
  const { data, calls } = await ask('{ order(id: 2481) { id } }');
  expect(data).toEqual({ order: null });
  expect(calls).toEqual(['GET /v1/orders/2481']);
});

test.each(nodeLookup === undefined ? [] : invalidFor(nodeLookup.type))(
  'for an invalid id, nodes returns null and an error without a call: %s',
  async (_what, id) => {
    const { data, errors, calls } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: ['channels/ca1/conversations/ca1', id],
    });
    expect(data).toEqual({ nodes: [{ id: 'channels/ca1/conversations/ca1' }, null] });
    expect(errors).toMatchObject([{ path: ['nodes', 1], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  },
);

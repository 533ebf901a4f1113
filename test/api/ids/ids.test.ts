import { type GraphQLArgument, getNamedType, isCompositeType } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { invalidIds } from '../../fixtures/identifiers.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

const takesId = (argument: GraphQLArgument) => argument.name === 'id' && String(argument.type) === 'ID!';
const lookups = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
  ({ type, args }) => args.some(takesId) && isCompositeType(getNamedType(type)),
);

/** What no whole id may be: couriers are nodes, too. */
const unfitForNode = invalidIds.map(([what, id]): [string, string] =>
  id === 'couriers/rutandina' ? ["no collection's id", 'tariffs/rutandina'] : [what, id],
);

const collections = ['orders', 'shipments', 'quotes', 'origins', 'locations', 'channels'];

test('every lookup by id is tested', () => {
  expect(lookups.map(({ name }) => name)).toEqual([
    'channel',
    'conversation',
    'location',
    'node',
    'order',
    'origin',
    'quote',
    'shipment',
  ]);
});

describe.each(lookups.map(({ name }) => name))('%s', (field) => {
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

  test.each(field === 'node' ? unfitForNode : invalidIds)('refuses %s, without a call', async (_what, id) => {
    const message = await refusal(id);
    // Cut, and without a character that could forge a line of a log.
    expect(message?.length).toBeLessThan(300);
    expect(message).toMatch(/^[\x20-\x7eé😀…]*$/u);
  });

  test('refuses the whole id of any other collection, without a call', async () => {
    const others = field === 'node' ? [] : collections.filter((collection) => collection !== `${field}s`);
    for (const collection of others) await refusal(`${collection}/ca1`);
    for (const collection of others) await refusal(`${collection}/..`);
  });

  test('takes the longest identifier there may be', async () => {
    const { errors } = await ask(`query ($id: ID!) { ${field}(id: $id) { id } }`, {
      id: `${{ node: 'orders', conversation: 'channels/ca1/conversations' }[field] ?? `${field}s`}/${'a'.repeat(128)}`,
    });
    expect(errors).toBeUndefined();
  });

  test('takes no id that is null, left out, or not a text', async () => {
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

test('a number stands for the identifier that it writes', async () => {
  const { data, calls } = await ask('{ order(id: 2481) { id } }');
  expect(data).toEqual({ order: null });
  expect(calls).toEqual(['GET /v1/orders/2481']);
});

test.each(unfitForNode)(
  '%s among the ids of nodes is refused for itself, without a call',
  async (_what, id) => {
    const { data, errors, calls } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: ['channels/ca1/conversations/ca1', id],
    });
    expect(data).toEqual({ nodes: [{ id: 'channels/ca1/conversations/ca1' }, null] });
    expect(errors).toMatchObject([{ path: ['nodes', 1], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  },
);

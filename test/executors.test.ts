import {
  type GraphQLCompositeType,
  type GraphQLField,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../src/graph/schema.ts';
import { startWaybill } from './harness.ts';

const queries = 150;
const maxDepth = 6;

/** The values that generated queries choose from, by argument; good, missing and wrong ones. */
const values: Record<string, string[]> = {
  id: [
    '"orders/ca2400"',
    '"ca2400"',
    '"shipments/ca1900"',
    '"orders/none"',
    '"a/b"',
    '"channels/ca1"',
    '"ca1"',
    '""',
  ],
  ids: ['["orders/ca2400", "shipments/ca1900", "quotes/none"]', '[]', '["bad"]'],
  first: ['0', '1', '2', '3', '-1', '5000', 'null'],
  after: ['null', '"forged"'],
  search: ['"Medellín"', '"a"', 'null'],
  status: ['[NEW]', '[DELIVERED, RETURN]', '[UNRECOGNIZED]', '[]'],
  referenceId: ['"1001"', '""'],
  locale: ['"en-US"', '"es-CO"', '"not a locale"', 'null'],
  name: ['"order_shipped"', '"none"'],
  language: ['"es"', '"en"', 'null'],
  headerParameters: [
    '[]',
    'null',
    '[{name: "1", value: "x"}]',
    '[{name: "a", value: "1"}, {name: "a", value: "2"}]',
  ],
  bodyParameters: ['[]', '[{name: "1", value: "x"}, {name: "__proto__", value: "y"}]'],
};

/** The same numbers, from 0 to 1, for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A query over the whole schema that is valid, whatever it asks for. */
function generateQuery(random: () => number): string {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  let alias = 0;

  function selections(type: GraphQLCompositeType, depth: number): string {
    const chosen = isInterfaceType(type)
      ? [`... on ${pick(schema.getPossibleTypes(type)).name}`].map((on, _index, [name = '']) => {
          const object = schema.getType(name.slice('... on '.length));
          return isObjectType(object) ? `${on} ${selections(object, depth + 1)}` : on;
        })
      : [];
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const open = fields.filter((field) => depth < maxDepth || !isCompositeType(getNamedType(field.type)));
    const count = 1 + Math.floor(random() * (depth === 0 ? 3 : 4));
    for (let index = 0; index < count && open.length > 0; index += 1)
      chosen.push(selection(pick(open), depth));
    return `{ __typename ${chosen.join(' ')} }`;
  }

  function selection(field: GraphQLField<unknown, unknown>, depth: number): string {
    const given = field.args.flatMap((argument) => {
      const pool = values[argument.name] ?? [];
      const needed = String(argument.type).endsWith('!');
      const fitting = needed ? pool.filter((value) => value !== 'null') : pool;
      return (needed || random() < 0.5) && fitting.length > 0 ? [`${argument.name}: ${pick(fitting)}`] : [];
    });
    const named = getNamedType(field.type);
    const directive = pick(['', '', '', '@include(if: true)', '@skip(if: true)']);
    const below = isCompositeType(named) ? selections(named, depth + 1) : '';
    alias += 1;
    return `f${alias}: ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${directive} ${below}`;
  }

  const query = schema.getQueryType();
  if (query === undefined || query === null) throw new Error('the schema has no queries');
  return selections(query, 0);
}

interface Outcome {
  data: unknown;
  errors: unknown[];
}

/** Errors of fields that run side by side come in no order of their own. */
function inOrder({ data, errors = [] }: { data: unknown; errors: unknown[] | undefined }): Outcome {
  return { data, errors: errors.map((error) => JSON.stringify(error)).sort() };
}

test(`compiled queries answer ${queries} generated queries as the standard executor does`, async () => {
  await using compiled = await startWaybill();
  await using standard = await startWaybill({}, { compileQueries: false });
  const random = randomNumbers(20_261_121);
  for (let index = 0; index < queries; index += 1) {
    const query = generateQuery(random);
    const [one, other] = [inOrder(await compiled.ask(query)), inOrder(await standard.ask(query))];
    // The two sandboxes differ in their addresses only.
    const portless = (outcome: Outcome) => JSON.stringify(outcome).replace(/127\.0\.0\.1:\d+/g, 'sandbox');
    expect(portless(one), query).toBe(portless(other));
  }
}, 60_000);

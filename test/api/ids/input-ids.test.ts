import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { invalidIds } from '../../fixtures/identifiers.ts';
import { inputFor, takesKey } from '../../fixtures/mutation-inputs.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
afterAll(() => waybill[Symbol.asyncDispose]());

interface IdPlace {
  /** `recipient.location` */
  path: string;
  /** `OrderRecipientInput.location` */
  field: string;
}

/** The places of an input type that take an id. */
function idPlaces(type: unknown, place: string[] = []): IdPlace[] {
  if (!isInputObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const inside = getNamedType(field.type);
    const path = [...place, field.name];
    if (inside.name === 'ID') return [{ path: path.join('.'), field: `${type.name}.${field.name}` }];
    // No list of an input holds an id.
    return isListType(getNullableType(field.type)) ? [] : idPlaces(inside, path);
  });
}

const places = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args }) =>
  args.flatMap((argument) =>
    idPlaces(getNamedType(argument.type)).map((place) => ({
      mutation: name,
      argument: `${argument.name}: ${argument.type}`,
      ...place,
    })),
  ),
);

/** The input with another value at a place of it. */
function changed(input: unknown, [field, ...rest]: string[], value: string): unknown {
  if (field === undefined) return value;
  const fields = Object(input) as Record<string, unknown>;
  return { ...fields, [field]: changed(fields[field], rest, value) };
}

test('every id field of every input type is tested', () => {
  const idFields = Object.values(schema.getTypeMap())
    .filter(isInputObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => getNamedType(field.type).name === 'ID')
    .map(({ type, field }) => `${type.name}.${field.name}`);
  expect([...new Set(places.map(({ field }) => field))].sort()).toEqual(idFields.sort());
});

describe.each(places)('the input field $path of $mutation', ({ mutation, argument, path }) => {
  const [name = ''] = argument.split(':');
  const whole = inputFor(mutation);
  const { recipient } = inputFor('createOrder');
  const base =
    path === 'recipient.location' ? { ...whole, recipient } : changed(whole, ['idempotencyKey'], 'a key');

  // GraphQL takes an id for a list with this id.
  const faultPath = path === 'shipments' ? 'shipments.0' : path;
  const isOfCouriers = path.endsWith('courier');
  const unfitHere = invalidIds.filter(([, id]) => !(isOfCouriers && id.startsWith('couriers/')));

  test.each([...unfitHere, ['the id of an organization', 'organization/mine'] as const])(
    'is reported in InvalidInput without a call if it is %s',
    async (_what, id) => {
      const input = changed(stated(base), path.split('.'), id);
      const { data, errors, calls } = await waybill.ask<Record<string, unknown>, unknown>(
        `mutation ($${argument}) { ${mutation}(${name}: $${name}) { ... on InvalidInput { fields { path message } } } }`,
        { [name]: name === 'inputs' ? [input] : input },
      );
      expect(errors).toBeUndefined();
      const result = [data[mutation]].flat();
      expect(result).toEqual([
        { fields: [{ path: faultPath, message: expect.stringMatching(/^must be (an|the) id of/) }] },
      ]);
      // Cut, and without a character that could forge a line of a log.
      expect(JSON.stringify(result)).toMatch(/^[\x20-\x7eé😀…]{0,500}$/u);
      expect(calls).toEqual([]);
    },
  );

  /** Without the names that stand for records, of which only the form counts here; and an update without a key. */
  function stated(input: unknown): unknown {
    const { idempotencyKey, ...fields } = input as Record<string, unknown>;
    return takesKey(mutation) ? { idempotencyKey, ...fields } : fields;
  }
});

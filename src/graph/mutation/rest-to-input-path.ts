import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';

/**
 * Maps dotted paths in a REST body to dotted paths in the GraphQL input, for fields whose paths differ. An entry also
 * applies to all fields below its path. An empty input path is the input as a whole.
 */
export type RestToInputPaths = Readonly<Record<string, string>>;

/**
 * The input type of a mutation field whose argument is one input or a list of inputs.
 * @throws TypeError if no argument of the field has an input type.
 */
export function inputTypeOf({ parentType, fieldName }: GraphQLResolveInfo): GraphQLInputObjectType {
  for (const { type } of parentType.getFields()[fieldName]?.args ?? []) {
    const named = getNamedType(type);
    if (isInputObjectType(named)) return named;
  }
  throw new TypeError(`${parentType.name}.${fieldName} takes no input`);
}

/** The location in a GraphQL input of a path that REST names. */
export interface InputLocation {
  /** The dotted path in the input, as far as the input has fields for the path of REST. */
  path: string;
  /** The dotted rest of the REST path that `path` does not express. Empty if there is none. */
  remainder: string;
}

/**
 * Finds the location in a GraphQL input that a REST path means. The interface does not show the form of the paths
 * ("Errors"). A path may have dots or brackets, or be a JSON pointer. The path may start with a name of the body
 * (`body`, `order`) and may be in snake case or kebab case.
 * @returns undefined if the path leads to no location in the input
 */
export function findInputLocation(
  restPath: string,
  {
    type,
    input,
    restToInputPaths,
  }: { type: GraphQLInputObjectType; input: unknown; restToInputPaths: RestToInputPaths },
): InputLocation | undefined {
  const parts = restPath.split(/[.[\]/#$'"]+/).filter((part) => part !== '');
  for (let start = 0; start < parts.length; start += 1) {
    const inputParts = toInputPath(parts.slice(start), restToInputPaths);
    const path = resolvablePrefix(inputParts, type, input);
    if (inputParts.length > 0 && path.length === 0) continue;
    const last = parts.at(-1) ?? '';
    const isOtherField = normalized(inputParts.at(-1) ?? '') !== normalized(last) && !/^\d+$/.test(last);
    return {
      path: path.join('.'),
      remainder: (isOtherField ? parts.slice(start) : inputParts.slice(path.length)).join('.'),
    };
  }
  return undefined;
}

/** Replaces the longest prefix of a REST path that has an entry in `restToInputPaths`. */
function toInputPath(parts: string[], restToInputPaths: RestToInputPaths): string[] {
  for (let length = parts.length; length > 0; length -= 1) {
    const prefix = parts.slice(0, length).map(normalized).join('.');
    const entry = Object.entries(restToInputPaths).find(
      ([from]) => from.split('.').map(normalized).join('.') === prefix,
    );
    if (entry !== undefined) return [...entry[1].split('.').filter(Boolean), ...parts.slice(length)];
  }
  return parts;
}

/** The longest prefix of the path that leads to a field or list item of the input, in the input's own spelling. */
function resolvablePrefix(parts: string[], type: GraphQLInputType, input: unknown): string[] {
  const [part, ...rest] = parts;
  const nullableType = getNullableType(type);
  if (part === undefined) return [];
  if (isListType(nullableType)) {
    const item = findListItem(input, [part, ...rest]);
    if (item === undefined) return [];
    const pathInItem = resolvablePrefix(item.rest, nullableType.ofType, ownProperty(input, item.index));
    return [String(item.index), ...pathInItem];
  }
  if (!isInputObjectType(nullableType)) return [];
  const field = Object.values(nullableType.getFields()).find(
    ({ name }) => normalized(name) === normalized(part),
  );
  if (field === undefined) return [];
  return [field.name, ...resolvablePrefix(rest, field.type, ownProperty(input, field.name))];
}

/**
 * Finds a list item by the first part of a path. For a list of named values the part is a name, because REST has a
 * map there. For any other list the part is an index.
 */
function findListItem(
  input: unknown,
  [part = '', ...rest]: string[],
): { index: number; rest: string[] } | undefined {
  if (!Array.isArray(input)) return undefined;
  // A name may look like an index. In a list of named values it is always a name.
  if (input.some((item) => ownProperty(item, 'name') !== undefined)) {
    const name = [part, ...rest].join('.');
    const index = input.findIndex((item) => ownProperty(item, 'name') === name);
    return index === -1 ? undefined : { index, rest: ['value'] };
  }
  return /^\d{1,6}$/.test(part) && ownProperty(input, Number(part)) !== undefined
    ? { index: Number(part), rest }
    : undefined;
}

function ownProperty(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key];
}

/** The same text for `contentDescription`, `content_description` and `content-description`. */
function normalized(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

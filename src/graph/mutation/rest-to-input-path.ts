import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { isJsonObject } from '../../base/json-object.ts';

/**
 * Maps dotted paths in a REST body to dotted paths in the GraphQL input, for fields whose paths differ. An entry also
 * applies to all fields below its path. An empty input path is the input as a whole.
 */
export type RestToInputPaths = Readonly<Record<string, string>>;

/**
 * Finds the field of an input that a REST path means. The interface does not show the form of the paths ("Errors"): it
 * may be dotted or a JSON pointer, start with a name of the body (`order`), and be in snake case.
 * @returns the dotted path in the input, empty for the whole input, and the dotted rest of the REST path
 */
export function findInputLocation(
  restPath: string,
  type: GraphQLInputObjectType,
  input: unknown,
  restToInputPaths: RestToInputPaths,
): { path: string; remainder: string } {
  const parts = restPath.split(/[./#[\]]+/).filter((part) => part !== '');
  // The first parts may name the body. So they are left out one by one, until the others lead to a field.
  for (let start = 0; start < parts.length; start += 1) {
    const inputParts = toInputPath(parts.slice(start), restToInputPaths);
    const path = resolvablePrefix(inputParts, type, input);
    if (inputParts.length > 0 && path.length === 0) continue;
    const last = parts.at(-1) ?? '';
    // Where the input has a field of another name, such as `order` for `destination`, the message names that of REST.
    const isRenamed = normalized(inputParts.at(-1) ?? '') !== normalized(last) && !/^\d+$/.test(last);
    const remainder = isRenamed ? parts.slice(start) : inputParts.slice(path.length);
    return { path: path.join('.'), remainder: remainder.join('.') };
  }
  return { path: '', remainder: restPath };
}

/** Replaces the longest prefix of a REST path that has an entry in `restToInputPaths`. */
function toInputPath(parts: string[], restToInputPaths: RestToInputPaths): string[] {
  for (let length = parts.length; length > 0; length -= 1) {
    const prefix = normalized(parts.slice(0, length).join('.'));
    const entry = Object.entries(restToInputPaths).find(([from]) => normalized(from) === prefix);
    if (entry !== undefined) return [...entry[1].split('.').filter(Boolean), ...parts.slice(length)];
  }
  return parts;
}

/** The longest prefix of the path that leads to a field or list item of the input, in the input's own spelling. */
function resolvablePrefix([part, ...rest]: string[], type: GraphQLInputType, input: unknown): string[] {
  if (part === undefined) return [];
  const nullableType = getNullableType(type);
  if (isListType(nullableType)) {
    const items: unknown[] = Array.isArray(input) ? input : [];
    // Where the input lists named values, REST has a map. A name may look like an index, or have dots.
    const isNamed = items.some((item) => ownProperty(item, 'name') !== undefined);
    const name = [part, ...rest].join('.');
    const index = isNamed ? items.findIndex((item) => ownProperty(item, 'name') === name) : Number(part);
    if (!(index in items)) return [];
    const restInItem = isNamed ? ['value'] : rest;
    return [String(index), ...resolvablePrefix(restInItem, nullableType.ofType, items[index])];
  }
  if (!isInputObjectType(nullableType)) return [];
  const field = Object.values(nullableType.getFields()).find(
    ({ name }) => normalized(name) === normalized(part),
  );
  if (field === undefined) return [];
  return [field.name, ...resolvablePrefix(rest, field.type, ownProperty(input, field.name))];
}

function ownProperty(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The same text for `contentDescription` and `content_description`. */
function normalized(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

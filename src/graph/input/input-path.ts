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
 * Where the fields of a REST body stand in the input, where they have another name or place there. What lies below them
 * goes along; an empty place is the input as a whole.
 */
export type Renames = Readonly<Record<string, string>>;

/** The type of the input that a mutation takes, one or a list of them. @throws TypeError for a field without one. */
export function inputType({ parentType, fieldName }: GraphQLResolveInfo): GraphQLInputObjectType {
  for (const { type } of parentType.getFields()[fieldName]?.args ?? []) {
    const named = getNamedType(type);
    if (isInputObjectType(named)) return named;
  }
  throw new TypeError(`${parentType.name}.${fieldName} takes no input`);
}

/** A place in an input, as far as REST's path leads into it, and what of that path the place does not tell. */
export interface InputLocation {
  path: string;
  below: string;
}

/**
 * The place in an input that REST means by a path of its own, or undefined where it leads to none. Paths may be dotted,
 * with brackets or a JSON pointer, may start with what REST calls the body (`body`, `order`), and may be written in
 * another case (`content_description`).
 */
export function inputLocationOf(
  restPath: string,
  { type, input, renames }: { type: GraphQLInputObjectType; input: unknown; renames: Renames },
): InputLocation | undefined {
  const parts = restPath.split(/[.[\]/#$'"]+/).filter((part) => part !== '');
  for (let start = 0; start < parts.length; start += 1) {
    const place = renamed(parts.slice(start), renames);
    const path = followed(place, type, input);
    if (place.length > 0 && path.length === 0) continue;
    const last = parts.at(-1) ?? '';
    const isElsewhere = plain(place.at(-1) ?? '') !== plain(last) && !/^\d+$/.test(last);
    return {
      path: path.join('.'),
      below: (isElsewhere ? parts.slice(start) : place.slice(path.length)).join('.'),
    };
  }
  return undefined;
}

/** The same path with the place of the longest rename that it starts with. */
function renamed(parts: string[], renames: Renames): string[] {
  for (let length = parts.length; length > 0; length -= 1) {
    const start = parts.slice(0, length).map(plain).join('.');
    const rename = Object.entries(renames).find(([from]) => from.split('.').map(plain).join('.') === start);
    if (rename !== undefined) return [...rename[1].split('.').filter(Boolean), ...parts.slice(length)];
  }
  return parts;
}

/** As far as the path leads into the input. */
function followed(parts: string[], type: GraphQLInputType, input: unknown): string[] {
  const [part, ...rest] = parts;
  const shape = getNullableType(type);
  if (part === undefined) return [];
  if (isListType(shape)) {
    const index = indexIn(input, [part, ...rest]);
    if (index === undefined) return [];
    const below = followed(index.rest, shape.ofType, itemOf(input, index.at));
    return [String(index.at), ...below];
  }
  if (!isInputObjectType(shape)) return [];
  const field = Object.values(shape.getFields()).find(({ name }) => plain(name) === plain(part));
  if (field === undefined) return [];
  return [field.name, ...followed(rest, field.type, itemOf(input, field.name))];
}

/** A list's place: by a name where REST has a map of what the input lists with names, or else by its number. */
function indexIn(input: unknown, [part = '', ...rest]: string[]): { at: number; rest: string[] } | undefined {
  if (!Array.isArray(input)) return undefined;
  // A name may be a number too, and is no place then.
  if (input.some((item) => itemOf(item, 'name') !== undefined)) {
    const name = [part, ...rest].join('.');
    const at = input.findIndex((item) => itemOf(item, 'name') === name);
    return at === -1 ? undefined : { at, rest: ['value'] };
  }
  return /^\d{1,6}$/.test(part) && itemOf(input, Number(part)) !== undefined
    ? { at: Number(part), rest }
    : undefined;
}

function itemOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key];
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

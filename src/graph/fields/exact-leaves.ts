import {
  type GraphQLFieldResolver,
  GraphQLFloat,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { Context } from '../context.ts';
import { propertyOf } from './property-fields.ts';

type Output = (value: unknown) => unknown;

/** In the words of GraphQL's own scalars, by which the server knows it. */
function refuse(name: string, value: unknown): never {
  throw new TypeError(`${name} cannot represent a ${typeof value}.`);
}

const text =
  (name: string): Output =>
  (value) =>
    typeof value === 'string' ? value : refuse(name, value);
const numberOf =
  ({ name, coerceOutputValue }: GraphQLScalarType): Output =>
  (value) =>
    typeof value === 'number' ? coerceOutputValue(value) : refuse(name, value);

/** How GraphQL's own scalars are given out here. GraphQL by itself would give out `true` as "true" or 1. */
const exactOutputs: Readonly<Record<string, Output>> = {
  String: text('String'),
  ID: text('ID'),
  Boolean: (value) => (typeof value === 'boolean' ? value : refuse('Boolean', value)),
  Int: numberOf(GraphQLInt),
  Float: numberOf(GraphQLFloat),
};

/**
 * How values of a leaf type are given out to clients. Both ways of running an operation use the same.
 * @returns a function that throws a TypeError for a value of another type.
 */
export function outputOf(type: GraphQLLeafType): Output {
  return exactOutputs[type.name] ?? ((value) => type.coerceOutputValue(value));
}

type Resolver = GraphQLFieldResolver<unknown, Context>;

/** Has the fields of a schema that hold GraphQL's own scalars fail where REST has sent a value of another type. */
export function withExactLeaves(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const leaf = getNamedType(field.type);
      if (!isLeafType(leaf) || exactOutputs[leaf.name] === undefined) continue;
      field.resolve = exact(field.resolve ?? resolverOf(propertyOf(field) ?? field.name), outputOf(leaf));
    }
  }
  return schema;
}

function resolverOf(property: string): Resolver {
  return (source) => (source as Readonly<Record<string, unknown>>)[property]; // REST's record of the type.
}

function exact(resolve: Resolver, output: Output): Resolver {
  const exactly = (value: unknown) => (Array.isArray(value) ? value.map(one) : one(value));
  function one(value: unknown): unknown {
    if (value === null || value === undefined || value instanceof Error) return value;
    try {
      return output(value);
    } catch (error) {
      // GraphQL turns it into the error of just this value.
      return error;
    }
  }
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return value instanceof Promise ? value.then(exactly) : exactly(value);
  };
}

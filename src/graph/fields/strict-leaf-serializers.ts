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
import { exposedProperty } from './property-resolvers.ts';

type Serializer = (value: unknown) => unknown;

/** Throws an error in the wording of GraphQL's own scalars. The server recognizes the error by this wording. */
function throwNotRepresentable(name: string, value: unknown): never {
  throw new TypeError(`${name} cannot represent a ${typeof value}.`);
}

const stringSerializer =
  (name: string): Serializer =>
  (value) =>
    typeof value === 'string' ? value : throwNotRepresentable(name, value);
const numberSerializer =
  ({ name, coerceOutputValue }: GraphQLScalarType): Serializer =>
  (value) =>
    typeof value === 'number' ? coerceOutputValue(value) : throwNotRepresentable(name, value);

/** Serializers of the built-in scalars, without coercion. GraphQL's own serializers turn `true` into "true" or 1. */
const strictSerializers: Readonly<Record<string, Serializer>> = {
  String: stringSerializer('String'),
  ID: stringSerializer('ID'),
  Boolean: (value) => (typeof value === 'boolean' ? value : throwNotRepresentable('Boolean', value)),
  Int: numberSerializer(GraphQLInt),
  Float: numberSerializer(GraphQLFloat),
};

/**
 * Returns the serializer of a scalar or enum type. GraphQL execution and compiled query plans both use it.
 * @returns a function that throws an error for a value of another type
 */
export function leafSerializer(type: GraphQLLeafType): Serializer {
  return strictSerializers[type.name] ?? ((value) => type.coerceOutputValue(value));
}

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Makes the fields of built-in scalar types fail if REST sent a value of another type. Changes the given schema.
 */
export function withStrictLeafSerializers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const leaf = getNamedType(field.type);
      if (!isLeafType(leaf) || strictSerializers[leaf.name] === undefined) continue;
      field.resolve = withStrictSerializer(
        field.resolve ?? propertyResolver(exposedProperty(field) ?? field.name),
        leafSerializer(leaf),
      );
    }
  }
  return schema;
}

function propertyResolver(property: string): Resolver {
  return (source) => (source as Readonly<Record<string, unknown>>)[property]; // REST's record of the parent type.
}

function withStrictSerializer(resolve: Resolver, serialize: Serializer): Resolver {
  const serializeAll = (value: unknown) =>
    Array.isArray(value) ? value.map(serializeOne) : serializeOne(value);
  function serializeOne(value: unknown): unknown {
    if (value === null || value === undefined || value instanceof Error) return value;
    try {
      return serialize(value);
    } catch (error) {
      // GraphQL turns a returned error into the error of this value alone, also in a list.
      return error;
    }
  }
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return value instanceof Promise ? value.then(serializeAll) : serializeAll(value);
  };
}

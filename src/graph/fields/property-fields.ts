import { type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';

/**
 * Takes the resolvers from fields that are the property of the same name of what REST has sent: without one, GraphQL reads
 * the property itself, which in compiled queries costs no call, no promise and no `info` for each value.
 */
export function withPropertyFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (propertyOf(field) === field.name) field.resolve = undefined;
    }
  }
  return schema;
}

/** The property of its object that a field hands out as it is, by whatever name; undefined where it may be more than that. */
export function propertyOf({ name, resolve, extensions }: GraphQLField): string | undefined {
  // What Pothos notes of a field that is made with `expose`.
  const { pothosExposedField: exposed } = extensions;
  if (typeof exposed === 'string') return exposed;
  return resolve === undefined ? name : undefined;
}

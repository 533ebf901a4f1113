import {
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { currentFieldPath } from '../../rest/client/field-path.ts';
import type { Context } from '../context.ts';

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Runs each resolver with its field path as the current one, so that the cost report can name the field of a call.
 * Only operations that request a cost report are tracked. Fields that return a property make no calls and stay
 * unwrapped. Changes the given schema.
 */
export function withFieldPathTracking(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isProperty = field.extensions.pothosExposedField !== undefined;
      if (field.resolve !== undefined && !isProperty) field.resolve = trackFieldPath(field.resolve);
    }
  }
  return schema;
}

function trackFieldPath(resolve: Resolver): Resolver {
  const trackedResolve: Resolver = (source, args, context, info) =>
    currentFieldPath.run(dottedPath(info.path), () => resolve(source, args, context, info));
  // Two functions: a function that contains a closure allocates the closure's scope on each call.
  return (source, args, context, info) =>
    (context.showsCost ? trackedResolve : resolve)(source, args, context, info);
}

/** The response path of a field, with dots between the parts. Compiled query plans provide only `prev` and `key`. */
function dottedPath({ prev, key }: Pick<GraphQLResolveInfo['path'], 'prev' | 'key'>): string {
  return prev === undefined ? String(key) : `${dottedPath(prev)}.${key}`;
}

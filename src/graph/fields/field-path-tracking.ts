import type { GraphQLFieldResolver, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { isObjectType } from 'graphql';
import { currentFieldPath } from '../../rest/client/field-path.ts';
import type { Context } from '../context.ts';
import { propertyOf } from './property-fields.ts';

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Lets the resolvers of a schema's fields ask by their path where the operation shows what it cost. Fields that hand
 * out a property ask for nothing, and stay as they are.
 */
export function withFieldPaths(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isPlain = propertyOf(field) !== undefined;
      if (field.resolve !== undefined && !isPlain) field.resolve = askingByPath(field.resolve);
    }
  }
  return schema;
}

function askingByPath(resolve: Resolver): Resolver {
  const asked: Resolver = (source, args, context, info) =>
    currentFieldPath.run(written(info.path), () => resolve(source, args, context, info));
  // Apart, as a function that holds a closure costs each call the room for what that would keep.
  return (source, args, context, info) => (context.showsCost ? asked : resolve)(source, args, context, info);
}

/** As an error's path, with dots between its parts. Compiled queries have no more of it than these two. */
function written({ prev, key }: Pick<GraphQLResolveInfo['path'], 'prev' | 'key'>): string {
  return prev === undefined ? String(key) : `${written(prev)}.${key}`;
}

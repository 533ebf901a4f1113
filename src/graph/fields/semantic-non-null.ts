import type { GraphQLField, GraphQLObjectType } from 'graphql';

/**
 * The extensions of a nullable field, or of a list with nullable items, where null always comes with an error. The
 * client's schema marks such a field with `@semanticNonNull`.
 */
export const nullByError = { nullByError: true };

/** @returns the levels of `@semanticNonNull`: 0 for the field, 1 for the items of its list. None: null can be data. */
export function semanticLevels(
  { name }: GraphQLObjectType,
  { extensions, type }: GraphQLField<unknown, unknown>,
): number[] {
  // A mutation gives each reason as a member of its union. Only an error leaves the field null.
  if (name !== 'Mutation' && extensions.nullByError !== true) return [];
  return String(type).startsWith('[') && String(type).endsWith('!') ? [1] : [0];
}

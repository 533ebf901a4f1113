import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';

/** What tells how many objects a list field returns at most, for the limit `nodes`. */
export type ListSize =
  /** The field's argument `first`. */
  | { by: 'first'; maximum: number }
  /** The length of a list argument. */
  | { by: 'argument'; argument: string }
  /** The argument `first` of the connection field around this field. */
  | { by: 'page' }
  /** A usual number. */
  | { by: 'estimate'; items: number };

/** The lists of introspection with more than one item on average, rounded up. */
export const introspectionItems: Readonly<Record<string, number>> = {
  '__Schema.types': 120,
  '__Type.fields': 4,
};

/**
 * The size of a field's list. Undefined for single objects, scalars and enums.
 * @throws Error for a list field of unknown size.
 */
export function listSize(parent: GraphQLNamedType, field: GraphQLField): ListSize | undefined {
  const first = field.args.find(({ name }) => name === 'first');
  if (first !== undefined) {
    const { maximum } = first.extensions;
    return { by: 'first', maximum: typeof maximum === 'number' ? maximum : Infinity };
  }
  if (!isListType(getNullableType(field.type)) || isLeafType(getNamedType(field.type))) return undefined;
  const { estimatedItems } = field.extensions;
  if (typeof estimatedItems === 'number') return { by: 'estimate', items: estimatedItems };
  const coordinate = `${parent.name}.${field.name}`;
  if (parent.name.startsWith('__')) return { by: 'estimate', items: introspectionItems[coordinate] ?? 1 };
  const list = field.args.find(({ type }) => isNonNullType(type) && isListType(type.ofType));
  if (list !== undefined) return { by: 'argument', argument: list.name };
  if (parent.name.endsWith('Connection')) return { by: 'page' };
  throw new Error(
    `The number of items of ${coordinate} is unknown. Add the extension { estimatedItems: <usual maximum> } to the ` +
      'field, so that the limit "nodes" counts the items.',
  );
}

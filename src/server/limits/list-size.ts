import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** What determines the number of objects in a field. */
export type ListSize =
  /** The field's argument `first`: the number of rows of the page. */
  | { by: 'first'; argument: GraphQLArgument; maximum: number }
  /** The length of a list argument: the field returns one item for each item of the argument. */
  | { by: 'argument'; argument: GraphQLArgument }
  /** The argument `first` of the connection field around this field. */
  | { by: 'page' }
  /** The field's extension `estimatedItems`. */
  | { by: 'estimate'; items: number };

/**
 * What determines the number of objects in a field. Undefined for single objects, scalars and enums.
 * @throws Error for a list field of unknown size.
 */
export function listSize(parent: GraphQLNamedType, field: GraphQLField): ListSize | undefined {
  const first = field.args.find(({ name }) => name === 'first');
  if (first !== undefined) {
    const { maximum } = first.extensions;
    return { by: 'first', argument: first, maximum: typeof maximum === 'number' ? maximum : Infinity };
  }
  if (!isListOfObjects(field)) return undefined;
  const { estimatedItems } = field.extensions;
  if (typeof estimatedItems === 'number') return { by: 'estimate', items: estimatedItems };
  const list = field.args.find(({ type }) => isNonNullType(type) && isListType(type.ofType));
  if (list !== undefined) return { by: 'argument', argument: list };
  if (parent.name.endsWith('Connection')) return { by: 'page' };
  throw new Error(
    `Nothing says how many items ${parent.name}.${field.name} has. Give the field the extension ` +
      '{ estimatedItems: <how many there usually are at most> }, so that the limit "nodes" counts them.',
  );
}

function isListOfObjects({ type }: GraphQLField): boolean {
  const nullable = isNonNullType(type) ? type.ofType : type;
  return isListType(nullable) && isCompositeType(getNamedType(type));
}

/** The average lengths of introspection lists, by coordinate (`Type.field`). */
export function introspectionSizes(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const types = Object.values(schema.getTypeMap());
  const directives = schema.getDirectives();
  const fieldsOf = (type: GraphQLNamedType) => ('getFields' in type ? Object.values(type.getFields()) : []);
  const outputFields = types.filter((type) => isObjectType(type) || isInterfaceType(type)).flatMap(fieldsOf);
  const average = (counts: number[]) =>
    Math.max(1, counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length));
  const averagePerType = (listOf: (type: GraphQLNamedType) => readonly unknown[]) =>
    average(types.map((type) => listOf(type).length));
  return new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', directives.length],
    ['__Type.fields', averagePerType(fieldsOf)],
    ['__Type.inputFields', averagePerType(fieldsOf)],
    ['__Type.enumValues', averagePerType((type) => ('getValues' in type ? type.getValues() : []))],
    ['__Type.interfaces', averagePerType((type) => ('getInterfaces' in type ? type.getInterfaces() : []))],
    [
      '__Type.possibleTypes',
      averagePerType((type) => (isAbstractType(type) ? schema.getPossibleTypes(type) : [])),
    ],
    ['__Field.args', average(outputFields.map(({ args }) => args.length))],
    ['__Directive.args', average(directives.map(({ args }) => args.length))],
  ]);
}

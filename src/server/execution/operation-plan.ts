import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { isIncluded } from '../../graph/fields/selection.ts';
import {
  collectDefinitions,
  type FieldSelection,
  type Fragments,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import type { FieldPlan, OperationPlan } from './execution.ts';
import { leafSerializer } from './leaf-values.ts';
import { charactersBeside } from './response-size.ts';
import { completionFor } from './run-field.ts';

interface PlanContext {
  schema: GraphQLSchema;
  fragments: Fragments;
  /** Those in @skip and @include. */
  variableValues: VariableValues;
}

/**
 * Plans an operation for one outcome of its @skip and @include. Nested objects get their plans at their first use.
 * @throws GraphQLError if the condition of a root field is null.
 */
export function planOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  document: DocumentNode,
  outcome: VariableValues['coerced'],
): OperationPlan {
  const type = schema.getRootType(operation.operation);
  if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
  const { fragments } = collectDefinitions(document);
  const variableValues = { sources: {}, coerced: outcome };
  const root = planObject({ schema, fragments, variableValues }, type, [operation.selectionSet]);
  return { schema, operation, fragments: Object.fromEntries(fragments), root };
}

function planObject(context: PlanContext, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
  const { schema, fragments, variableValues } = context;
  const selected = selectedFields(sets, fragments, {
    includesType: (condition) => conditionApplies(schema, type, condition),
    includesSelection: (selection) => isIncluded(selection, variableValues),
  });
  // Selections with one response name are one field.
  const groups = Map.groupBy(selected, responseName);
  const fields = Array.from(groups, ([key, group]) => planField(context, type, key, group));
  const characters = fields.reduce((sum, { key }) => sum + charactersBeside(key), 0);
  return { fields, characters, hasPrototypeName: groups.has('__proto__') };
}

/** Whether a type condition includes objects of a type. */
function conditionApplies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
  if (condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

function planField(
  context: PlanContext,
  parentType: GraphQLObjectType,
  key: string,
  fields: readonly FieldSelection[],
): FieldPlan {
  const { schema } = context;
  const [node, ...more] = fields.map(({ node }) => node);
  const definition = node && schema.getField(parentType, node.name.value);
  if (node === undefined || definition === undefined) throw new Error(`${parentType.name} has no ${key}`);
  const type = getNullableType(definition.type);
  const property = exposedProperty(definition);
  const sets = selectionSets(fields);
  return {
    parentType,
    definition,
    key,
    nodes: [node, ...more],
    locations: undefined,
    isNullable: type === definition.type,
    isWrite: parentType === schema.getMutationType(),
    isPage: isListType(type) && parentType.name.endsWith('Connection'),
    complete: completionFor(type, schema, (objectType) => planObject(context, objectType, sets)),
    property,
    serialize: property !== undefined && isLeafType(type) ? leafSerializer(type) : undefined,
  };
}

/** The property that a field returns unchanged. A plan reads it without a call of a resolver. */
function exposedProperty({ name, resolve, extensions }: GraphQLField): string | undefined {
  // Pothos sets this extension on fields made with `expose`.
  const { pothosExposedField: exposed } = extensions;
  if (typeof exposed === 'string') return exposed;
  return resolve === undefined ? name : undefined;
}

import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getLocation,
  isAbstractType,
  isLeafType,
  isNonNullType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type SourceLocation,
} from 'graphql';
import { isIncluded } from '../../graph/fields/is-included.ts';
import {
  collectDefinitions,
  type FieldSelection,
  type Fragments,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import { type Complete, completeValue, completionFor } from './completion.ts';
import {
  type Container,
  type Execution,
  type FieldPlan,
  type ObjectPlan,
  type OperationPlan,
  ResponsePath,
} from './execution.ts';
import { leafSerializer, type Serialize } from './leaf-values.ts';

/** The values of the variables in @skip and @include, by name. */
export type Outcome = Readonly<Record<string, unknown>>;

/** The names of the variables that may be in @skip and @include: the Boolean ones. */
export function conditionVariables({ variableDefinitions = [] }: OperationDefinitionNode): string[] {
  return variableDefinitions.flatMap(({ type, variable }) => {
    const nullableType = type.kind === 'NonNullType' ? type.type : type;
    const isBoolean = nullableType.kind === 'NamedType' && nullableType.name.value === 'Boolean';
    return isBoolean ? [variable.name.value] : [];
  });
}

interface PlanContext {
  schema: GraphQLSchema;
  fragments: Fragments;
  outcome: Outcome;
}

/**
 * Plans an operation for one outcome of its @skip and @include. Nested objects get their plans at their first use.
 * @throws GraphQLError if the condition of a root field is null.
 */
export function planOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  document: DocumentNode,
  outcome: Outcome,
): OperationPlan {
  const type = schema.getRootType(operation.operation);
  if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
  const { fragments } = collectDefinitions(document);
  const root = new SelectedObject({ schema, fragments, outcome }, type, [operation.selectionSet]);
  return { schema, operation, fragments: Object.fromEntries(fragments), root };
}

// Assigning to this name sets the prototype of a plain object.
const prototypeName = '__proto__';

class SelectedObject implements ObjectPlan {
  readonly fields: readonly SelectedField[];
  readonly #hasPrototypeName: boolean;

  constructor(context: PlanContext, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const { schema, fragments, outcome } = context;
    const variableValues = { sources: {}, coerced: outcome };
    const selected = selectedFields(sets, fragments, {
      includesType: (condition) => conditionApplies(schema, type, condition),
      includesSelection: (selection) => isIncluded(selection, variableValues),
    });
    // Selections with one response name are one field.
    const groups = Map.groupBy(selected, responseName);
    this.fields = Array.from(groups, ([key, group]) => new SelectedField(context, type, key, group));
    this.#hasPrototypeName = groups.has(prototypeName);
  }

  createObject(): Container {
    // Objects without a prototype are slower.
    return this.#hasPrototypeName ? Object.create(null) : {};
  }
}

/** Whether a type condition includes objects of a type. */
function conditionApplies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
  if (condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

class SelectedField implements FieldPlan {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly isNullable: boolean;
  readonly #complete: Complete;
  /** Undefined if the field has a resolver of its own. */
  readonly #property: string | undefined;
  /** Set if the field is a property with a scalar or enum type. */
  readonly #serialize: Serialize | undefined;
  /** Computed at the first error: finding the line reads the document, and thousands of errors may share the field. */
  #locations: readonly SourceLocation[] | undefined;

  constructor(
    context: PlanContext,
    parentType: GraphQLObjectType,
    key: string,
    fields: readonly FieldSelection[],
  ) {
    const [node, ...more] = fields.map(({ node }) => node);
    const definition = node && context.schema.getField(parentType, node.name.value);
    if (node === undefined || definition === undefined) throw new Error(`${parentType.name} has no ${key}`);
    this.parentType = parentType;
    this.definition = definition;
    this.key = key;
    this.nodes = [node, ...more];
    const { type } = definition;
    this.isNullable = !isNonNullType(type);
    const nullableType = isNonNullType(type) ? type.ofType : type;
    this.#property = exposedProperty(definition);
    this.#serialize =
      this.#property !== undefined && isLeafType(nullableType) ? leafSerializer(nullableType) : undefined;
    const sets = selectionSets(fields);
    this.#complete = completionFor(
      nullableType,
      context.schema,
      (objectType) => new SelectedObject(context, objectType, sets),
    );
  }

  get locations() {
    this.#locations ??= this.nodes.flatMap(({ loc }) => (loc ? [getLocation(loc.source, loc.start)] : []));
    return this.#locations;
  }

  run(execution: Execution, source: unknown, object: Container, parent: ResponsePath | undefined): void {
    if (this.#serialize !== undefined && this.#completeLeaf(this.#serialize, source, object)) return;
    const responsePath = new ResponsePath(execution, this, parent, object, this.key, this.isNullable);
    let value: unknown;
    try {
      if (this.#property === undefined) {
        const call = execution.fieldCall(this);
        value = this.definition.resolve?.(source, call.args, execution.context, call);
      } else value = (source as Container)[this.#property];
    } catch (error) {
      execution.fail(error, responsePath);
      return;
    }
    completeValue(responsePath, this.#complete, value);
  }

  /** Completes a valid leaf value, the most common one, without a path. @returns false for all other values. */
  #completeLeaf(serialize: Serialize, source: unknown, object: Container): boolean {
    const value = this.#property && (source as Container | undefined)?.[this.#property];
    const isNull = (value === null || value === undefined) && this.isNullable;
    const completed = isNull ? null : serialize(value);
    if (completed !== undefined) object[this.key] = completed;
    return completed !== undefined;
  }
}

/** The property that a field returns unchanged. A plan reads it without a call of a resolver. */
function exposedProperty({ name, resolve, extensions }: GraphQLField): string | undefined {
  // Pothos sets this extension on fields made with `expose`.
  const { pothosExposedField: exposed } = extensions;
  if (typeof exposed === 'string') return exposed;
  return resolve === undefined ? name : undefined;
}

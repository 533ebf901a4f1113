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
import {
  collectDefinitions,
  type FieldSelection,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import { type Complete, completeValue, completionFor } from './completion.ts';
import { isIncluded, type Outcome } from './conditions.ts';
import {
  type Container,
  type Execution,
  FieldPath,
  type FieldPlan,
  type ObjectPlan,
  type OperationPlan,
  type ResponsePath,
} from './execution.ts';
import { leafSerializer, type Serialize } from './leaf-values.ts';

/** What the plans of an operation's fields have in common. */
interface PlanContext extends Pick<OperationPlan, 'schema' | 'fragments'> {
  outcome: Outcome;
}

/**
 * Plans an operation for one outcome of its @skip and @include. The plans of nested objects are made at their first use.
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
  const fragments = Object.fromEntries(collectDefinitions(document).fragments);
  const root = new SelectedObject({ schema, fragments, outcome }, type, [operation.selectionSet]);
  return { schema, operation, fragments, root };
}

// Assigning to this name sets the prototype of a plain object.
const prototypeName = '__proto__';

class SelectedObject implements ObjectPlan {
  readonly fields: readonly SelectedField[];
  readonly #hasPrototypeName: boolean;

  constructor(context: PlanContext, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const { schema, fragments, outcome } = context;
    const selected = selectedFields(sets, (name) => fragments[name], {
      includesType: (condition) => conditionApplies(schema, type, condition),
      includesSelection: (selection) => isIncluded(selection, outcome),
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

const noArgs = Object.freeze(Object.create(null));

class SelectedField implements FieldPlan {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly isNullable: boolean;
  readonly #complete: Complete;
  readonly #hasArgs: boolean;
  /** The property of the source object that is the field's value. Undefined if the field has a resolver. */
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
    const { type, args } = definition;
    this.isNullable = !isNonNullType(type);
    this.#hasArgs = args.length > 0;
    const nullableType = isNonNullType(type) ? type.ofType : type;
    this.#property = exposedProperty(definition);
    this.#serialize =
      this.#property !== undefined && isLeafType(nullableType) ? leafSerializer(nullableType) : undefined;
    const sets = selectionSets(fields);
    this.#complete = completionFor(nullableType, {
      schema: context.schema,
      planFor: (selectedType) => new SelectedObject(context, selectedType, sets),
    });
  }

  get locations() {
    this.#locations ??= this.nodes.flatMap(({ loc }) => (loc ? [getLocation(loc.source, loc.start)] : []));
    return this.#locations;
  }

  run(execution: Execution, source: unknown, object: Container, parent: ResponsePath | undefined): void {
    if (this.#serialize !== undefined && this.#completeLeaf(this.#serialize, source, object)) return;
    const responsePath = new FieldPath(execution, this, parent, object);
    let value: unknown;
    try {
      if (this.#property === undefined) {
        const args = this.#hasArgs ? execution.argsOf(this) : noArgs;
        value = this.definition.resolve?.(source, args, execution.context, responsePath);
      } else value = (source as Container)[this.#property];
    } catch (error) {
      execution.fail(error, responsePath);
      return;
    }
    completeValue(responsePath, this.#complete, value);
  }

  /** Completes a valid leaf value, the most common case, without a response path. @returns false for all other values. */
  #completeLeaf(serialize: Serialize, source: unknown, object: Container): boolean {
    const value = this.#property && (source as Container | undefined)?.[this.#property];
    const isNull = (value === null || value === undefined) && this.isNullable;
    const completed = isNull ? null : serialize(value);
    if (completed !== undefined) object[this.key] = completed;
    return completed !== undefined;
  }
}

/**
 * The name of the property that a field returns unchanged. Undefined if the field has a resolver of its own. A plan
 * reads the property itself, which saves a call, a promise and an `info` for each value.
 */
function exposedProperty({ name, resolve, extensions }: GraphQLField): string | undefined {
  // Pothos sets this extension on fields made with `expose`.
  const { pothosExposedField: exposed } = extensions;
  if (typeof exposed === 'string') return exposed;
  return resolve === undefined ? name : undefined;
}

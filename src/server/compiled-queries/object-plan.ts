import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isNonNullType,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { exposedProperty } from '../../graph/fields/property-resolvers.ts';
import { leafSerializer } from '../../graph/fields/strict-leaf-serializers.ts';
import {
  type FieldSelection,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import {
  type Container,
  type ExecutablePlan,
  type Execution,
  FieldPath,
  type FieldsPlan,
  type ResponsePath,
  type SelectedField,
} from './plan-execution.ts';
import {
  type Complete,
  completeValue,
  completionOf,
  type Serialize,
  serializeLeaf,
} from './value-completion.ts';

/** The schema and fragments that the plans of a query's fields need. */
type QueryDefinitions = Pick<ExecutablePlan, 'schema' | 'fragments'>;

/** The fields to execute on objects of one type, with fragments expanded and fields merged. */
export class ObjectPlan implements FieldsPlan {
  readonly #fields: FieldPlan[] = [];

  constructor(query: QueryDefinitions, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const fields = selectedFields(
      sets,
      (name) => query.fragments[name],
      (condition) => conditionApplies(query.schema, type, condition),
    );
    // Selections with one response name are one field.
    for (const [key, group] of Map.groupBy(fields, responseName)) {
      this.#fields.push(new FieldPlan(query, type, key, group));
    }
  }

  run(
    execution: Execution,
    source: unknown,
    container: Container,
    responsePath: ResponsePath | undefined,
  ): void {
    for (const field of this.#fields) field.run(execution, source, container, responsePath);
  }
}

/** Whether a type condition includes objects of a type. */
function conditionApplies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
  if (condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

/** A field to execute on objects of one type. */
class FieldPlan implements SelectedField {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly isNullable: boolean;
  readonly #complete: Complete;
  /** The arguments of every execution. Undefined if the arguments have variables. */
  readonly #args: object | undefined;
  /** The property of the source object that is the field's value. Undefined if the field has a resolver. */
  readonly #property: string | undefined;
  /** Set if the field is a property with a scalar or enum type. */
  readonly #leaf: { property: string; serialize: Serialize } | undefined;

  constructor(
    query: QueryDefinitions,
    parentType: GraphQLObjectType,
    key: string,
    fields: readonly FieldSelection[],
  ) {
    const [node, ...more] = fields.map(({ node }) => node);
    const definition = node && query.schema.getField(parentType, node.name.value);
    if (node === undefined || definition === undefined) throw new Error(`${parentType.name} has no ${key}`);
    this.parentType = parentType;
    this.definition = definition;
    this.key = key;
    this.nodes = [node, ...more];
    const { type } = definition;
    this.isNullable = !isNonNullType(type);
    const sets = selectionSets(fields);
    const nullableType = isNonNullType(type) ? type.ofType : type;
    const property = exposedProperty(definition);
    this.#property = property;
    this.#leaf =
      property !== undefined && isLeafType(nullableType)
        ? { property, serialize: leafSerializer(nullableType) }
        : undefined;
    this.#complete = completionOf(nullableType, {
      schema: query.schema,
      planOf: (selected) => new ObjectPlan(query, selected, sets),
    });
    this.#args = hasVariables(node) ? undefined : getArgumentValues(definition, node);
  }

  run(execution: Execution, source: unknown, container: Container, parent: ResponsePath | undefined): void {
    if (this.#completeLeaf(source, container)) return;
    const responsePath = new FieldPath(execution, this, parent, container);
    let value: unknown;
    try {
      value =
        this.#property === undefined
          ? this.definition.resolve?.(
              source,
              this.#argsIn(execution, parent),
              execution.context,
              responsePath,
            )
          : (source as Container)[this.#property];
    } catch (error) {
      execution.fail(error, responsePath);
      return;
    }
    completeValue(responsePath, this.#complete, value);
  }

  /** Completes a valid leaf value, the most common case, without a response path. @returns false for all other values. */
  #completeLeaf(source: unknown, container: Container): boolean {
    if (this.#leaf === undefined) return false;
    const value = (source as Container | undefined)?.[this.#leaf.property];
    const isNull = (value === null || value === undefined) && this.isNullable;
    const completed = isNull ? null : serializeLeaf(this.#leaf.serialize, value);
    if (completed !== undefined) container[this.key] = completed;
    return completed !== undefined;
  }

  #argsIn(execution: Execution, parent: ResponsePath | undefined): object {
    if (this.#args !== undefined) return this.#args;
    const computeArgs = () => getArgumentValues(this.definition, this.nodes[0], execution.variables);
    // Root fields run once, so caching their arguments saves nothing.
    return parent === undefined ? computeArgs() : execution.argsOf(this, computeArgs);
  }
}

function hasVariables({ arguments: args = [] }: FieldNode): boolean {
  let isFound = false;
  for (const arg of args) {
    visit(arg, {
      Variable() {
        isFound = true;
      },
    });
  }
  return isFound;
}

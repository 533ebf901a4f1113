import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isNonNullType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
  visit,
} from 'graphql';
import { outputOf } from '../../graph/exact-leaves.ts';
import { propertyOf } from '../../graph/plain-fields.ts';
import { type Complete, completionOf, type Output, plainLeaf, put } from './completion.ts';
import { FieldPlace, type Holder, type Place } from './place.ts';
import { Run } from './run.ts';

/** A query, made ready to be run again and again. It has no directives: conditions would make each run another query. */
export class QueryPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: ObjectPlan;

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = Object.create(null);
    for (const definition of document.definitions) {
      if (definition.kind === 'FragmentDefinition') this.fragments[definition.name.value] = definition;
    }
    const type = schema.getRootType(operation.operation);
    if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
    this.root = new ObjectPlan(this, type, [operation.selectionSet]);
  }

  /** The values of the variables as resolvers get them, or the reasons why they don't fit. */
  variablesOf(values: Readonly<Record<string, unknown>>) {
    return getVariableValues(this.schema, this.operation.variableDefinitions ?? [], values);
  }

  run(context: object, variables: VariableValues) {
    return new Run(this, context, variables).result();
  }
}

/** The fields that are selected of objects of a type. */
export class ObjectPlan {
  readonly #fields: FieldPlan[] = [];

  constructor(query: QueryPlan, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const nodesByKey = new Map<string, FieldNode[]>();
    const seen = new Set<string>();
    for (const set of sets) collect(query, type, set, nodesByKey, seen);
    for (const [key, nodes] of nodesByKey) this.#fields.push(new FieldPlan(query, type, key, nodes));
  }

  /** Puts the fields of an object into `holder`, each as soon as it is there. */
  run(run: Run, source: unknown, holder: Holder, place: Place | undefined): void {
    for (const field of this.#fields) field.run(run, source, holder, place);
  }
}

/** Fields of one name are one field, whatever fragments they come from. */
function collect(
  query: QueryPlan,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  nodesByKey: Map<string, FieldNode[]>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === 'Field') {
      const key = (selection.alias ?? selection.name).value;
      const nodes = nodesByKey.get(key);
      if (nodes === undefined) nodesByKey.set(key, [selection]);
      else nodes.push(selection);
      continue;
    }
    if (selection.kind === 'FragmentSpread') {
      if (seen.has(selection.name.value)) continue;
      seen.add(selection.name.value);
    }
    const fragment = selection.kind === 'InlineFragment' ? selection : query.fragments[selection.name.value];
    if (fragment !== undefined && applies(query.schema, type, fragment.typeCondition?.name.value)) {
      collect(query, type, fragment.selectionSet, nodesByKey, seen);
    }
  }
}

function applies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

/** A field that is selected of objects of a type. */
export class FieldPlan {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  /** What it is called in the answer. */
  readonly key: string;
  /** Where it is selected. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly mayBeNull: boolean;
  readonly #complete: Complete;
  /** The same for each run, where they hold no variables. */
  readonly #args: object | undefined;
  /** Of its object, where the field is just that; undefined where it is resolved. */
  readonly #property: string | undefined;
  /** Of a property whose values are leaves; undefined for all other fields. */
  readonly #plain: { property: string; output: Output } | undefined;

  constructor(query: QueryPlan, parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]) {
    const [node, ...more] = nodes;
    const definition = node && query.schema.getField(parentType, node.name.value);
    if (node === undefined || definition === undefined) throw new Error(`${parentType.name} has no ${key}`);
    this.parentType = parentType;
    this.definition = definition;
    this.key = key;
    this.nodes = [node, ...more];
    const { type } = definition;
    this.mayBeNull = !isNonNullType(type);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const nullableType = isNonNullType(type) ? type.ofType : type;
    const property = propertyOf(definition);
    this.#property = property;
    this.#plain =
      property !== undefined && isLeafType(nullableType)
        ? { property, output: outputOf(nullableType) }
        : undefined;
    this.#complete = completionOf(nullableType, {
      schema: query.schema,
      of: (selected) => new ObjectPlan(query, selected, sets),
    });
    this.#args = holdsVariables(node) ? undefined : getArgumentValues(definition, node);
  }

  run(run: Run, source: unknown, holder: Holder, parent: Place | undefined): void {
    if (this.#isPlainlyPut(source, holder)) return;
    const place = new FieldPlace(run, this, parent, holder);
    let value: unknown;
    try {
      value =
        this.#property === undefined
          ? this.definition.resolve?.(source, this.#argsIn(run, parent), run.context, place)
          : (source as Holder)[this.#property];
    } catch (error) {
      run.fail(error, place);
      return;
    }
    put(place, this.#complete, value);
  }

  /** Most values need no place of their own, as they are there and as they should be. */
  #isPlainlyPut(source: unknown, holder: Holder): boolean {
    if (this.#plain === undefined) return false;
    const value = (source as Holder | undefined)?.[this.#plain.property];
    const isNull = (value === null || value === undefined) && this.mayBeNull;
    const told = isNull ? null : plainLeaf(this.#plain.output, value);
    if (told !== undefined) holder[this.key] = told;
    return told !== undefined;
  }

  #argsIn(run: Run, parent: Place | undefined): object {
    if (this.#args !== undefined) return this.#args;
    const make = () => getArgumentValues(this.definition, this.nodes[0], run.variables);
    // Fields at the root are run once, so that nothing is gained by keeping their arguments.
    return parent === undefined ? make() : run.argsOf(this, make);
  }
}

function holdsVariables({ arguments: args = [] }: FieldNode): boolean {
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

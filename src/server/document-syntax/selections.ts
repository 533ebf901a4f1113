import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Collects the operations and fragments of a document. The last of several fragments with one name wins. */
export function collectDefinitions({ definitions }: DocumentNode) {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === 'OperationDefinition') operations.push(definition);
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  return { operations, fragments };
}

/** A field of a selection set, fragments expanded. */
export interface FieldSelection {
  node: FieldNode;
  /** The type condition of the innermost fragment around the field. Undefined without a type condition. */
  condition: string | undefined;
}

/** Which selections belong to the result. */
export interface SelectionFilter {
  includesType(condition: string): boolean;
  includesSelection(selection: SelectionNode): boolean;
}

/**
 * The fields that selection sets select of one object, in document order. Each named fragment is expanded once, as in
 * CollectFields of the GraphQL specification. So cycles end, and repeated spreads add nothing.
 */
export function selectedFields(
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
  filter?: SelectionFilter,
): FieldSelection[] {
  const fields: FieldSelection[] = [];
  const visitedFragments = new Set<string>();

  function collect({ selections }: SelectionSetNode, outerCondition: string | undefined): void {
    for (const selection of selections) {
      if (filter?.includesSelection(selection) === false) continue;
      if (selection.kind === 'Field') {
        fields.push({ node: selection, condition: outerCondition });
        continue;
      }
      if (selection.kind === 'FragmentSpread') {
        if (visitedFragments.has(selection.name.value)) continue;
        visitedFragments.add(selection.name.value);
      }
      const fragment = selection.kind === 'InlineFragment' ? selection : fragments.get(selection.name.value);
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      if (condition === undefined || filter?.includesType(condition) !== false)
        collect(fragment.selectionSet, condition ?? outerCondition);
    }
  }

  for (const set of sets) collect(set, undefined);
  return fields;
}

/** Fields with one response name are merged in the response. */
export function responseName({ node: { alias, name } }: FieldSelection): string {
  return (alias ?? name).value;
}

export function selectionSets(fields: readonly FieldSelection[]): SelectionSetNode[] {
  return fields.flatMap(({ node: { selectionSet } }) => selectionSet ?? []);
}

/** The size of a definition with every fragment spread expanded. Numbers may be as large as `Infinity`. */
export interface SelectionSize {
  /** Fields, inline fragments and fragment spreads. */
  selections: number;
  aliases: number;
  /** Nesting of fields, without introspection fields. */
  depth: number;
}

const nothing: Readonly<SelectionSize> = { selections: 0, aliases: 0, depth: 0 };

/** Measures definitions. Each fragment is visited once, and its size is added at each spread: the time is linear. */
export class SelectionSizes {
  readonly #fragments: Fragments;
  /** `nothing` while a fragment is being measured. */
  readonly #sizes = new Map<string, SelectionSize>();
  /** Whether any measured fragment spreads itself, directly or through others. */
  isCyclic = false;

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  measure(definition: OperationDefinitionNode | FragmentDefinitionNode): SelectionSize {
    if (definition.kind === 'OperationDefinition') return this.#sum(definition.selectionSet);
    const name = definition.name.value;
    const measured = this.#sizes.get(name);
    if (measured === nothing) this.isCyclic = true;
    if (measured !== undefined) return measured;
    this.#sizes.set(name, nothing);
    const size = this.#sum(definition.selectionSet);
    this.#sizes.set(name, size);
    return size;
  }

  /** Whether a fragment has been measured, by itself or within another definition. */
  hasMeasured({ name }: FragmentDefinitionNode): boolean {
    return this.#sizes.has(name.value);
  }

  #sum(set: SelectionSetNode | undefined): SelectionSize {
    const sum = { ...nothing };
    for (const selection of set?.selections ?? []) {
      const size = this.#measureSelection(selection);
      sum.selections += size.selections + 1;
      sum.aliases += size.aliases;
      sum.depth = Math.max(sum.depth, size.depth);
    }
    return sum;
  }

  #measureSelection(selection: SelectionNode): SelectionSize {
    if (selection.kind === 'FragmentSpread') {
      const fragment = this.#fragments.get(selection.name.value);
      return fragment === undefined ? nothing : this.measure(fragment);
    }
    const size = this.#sum(selection.selectionSet);
    if (selection.kind === 'InlineFragment') return size;
    const { name, alias } = selection;
    if (alias !== undefined) size.aliases += 1;
    size.depth = name.value === '__schema' || name.value === '__type' ? 0 : size.depth + 1;
    return size;
  }
}

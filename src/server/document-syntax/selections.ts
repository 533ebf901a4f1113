import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';

export interface Definitions {
  operations: OperationDefinitionNode[];
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** Collects the operations and fragments of a document. The last of several fragments with one name wins. */
export function collectDefinitions({ definitions }: DocumentNode): Definitions {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === 'OperationDefinition') operations.push(definition);
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  return { operations, fragments };
}

/** Returns the definition of a fragment by its name. */
export type FragmentByName = (name: string) => FragmentDefinitionNode | undefined;

/** A field of a selection set, fragments expanded. */
export interface FieldSelection {
  node: FieldNode;
  /** The type condition of the innermost fragment around the field. Undefined without a type condition. */
  condition: string | undefined;
}

/** What of the selections belongs to the result. */
export interface SelectionFilter {
  /** Whether fields under a type condition do. */
  includesType(condition: string): boolean;
  /** Whether a selection does, by its directives. */
  includesSelection(selection: SelectionNode): boolean;
}

const includesAll: SelectionFilter = { includesType: () => true, includesSelection: () => true };

/**
 * The fields that selection sets select of one object, in document order, with fragments expanded. Each named
 * fragment is expanded once, as in CollectFields of the GraphQL specification. So cycles end, and repeated spreads
 * add nothing. By default all selections belong to the result.
 */
export function selectedFields(
  sets: readonly SelectionSetNode[],
  fragmentByName: FragmentByName,
  { includesType, includesSelection }: SelectionFilter = includesAll,
): FieldSelection[] {
  const fields: FieldSelection[] = [];
  const visitedFragments = new Set<string>();

  function collect({ selections }: SelectionSetNode, outerCondition: string | undefined): void {
    for (const selection of selections) {
      if (!includesSelection(selection)) continue;
      if (selection.kind === 'Field') {
        fields.push({ node: selection, condition: outerCondition });
        continue;
      }
      if (selection.kind === 'FragmentSpread') {
        if (visitedFragments.has(selection.name.value)) continue;
        visitedFragments.add(selection.name.value);
      }
      const fragment = selection.kind === 'InlineFragment' ? selection : fragmentByName(selection.name.value);
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      if (condition === undefined || includesType(condition))
        collect(fragment.selectionSet, condition ?? outerCondition);
    }
  }

  for (const set of sets) collect(set, undefined);
  return fields;
}

/** The response name of a field: its alias or else its name. Fields with one response name are merged. */
export function responseName({ node: { alias, name } }: FieldSelection): string {
  return (alias ?? name).value;
}

/** The selection sets of fields that are merged in the response. */
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

export interface SelectionSizes {
  of(definition: OperationDefinitionNode | FragmentDefinitionNode): SelectionSize;
  /** Whether a fragment has been measured, by itself or within another definition. */
  hasMeasured(fragment: FragmentDefinitionNode): boolean;
  /** Whether any measured fragment spreads itself, directly or through others. */
  isCyclic(): boolean;
}

const emptySize: SelectionSize = { selections: 0, aliases: 0, depth: 0 };

/** Creates a measure that visits each fragment once, and adds its size at each spread. The time is linear. */
export function createSelectionSizes(fragmentByName: FragmentByName): SelectionSizes {
  const sizes = new Map<string, SelectionSize | 'being measured'>();
  let isCyclic = false;

  function sizeOfSelectionSet(set: SelectionSetNode | undefined): SelectionSize {
    const sum = { ...emptySize };
    for (const selection of set?.selections ?? []) {
      const size =
        selection.kind === 'Field'
          ? sizeOfField(selection)
          : selection.kind === 'InlineFragment'
            ? sizeOfSelectionSet(selection.selectionSet)
            : sizeOfFragment(fragmentByName(selection.name.value));
      sum.selections += size.selections + 1;
      sum.aliases += size.aliases;
      sum.depth = Math.max(sum.depth, size.depth);
    }
    return sum;
  }

  function sizeOfField({ name, alias, selectionSet }: FieldNode): SelectionSize {
    const size = sizeOfSelectionSet(selectionSet);
    const isIntrospection = name.value === '__schema' || name.value === '__type';
    if (alias !== undefined) size.aliases += 1;
    size.depth = isIntrospection ? 0 : size.depth + 1;
    return size;
  }

  function sizeOfFragment(fragment: FragmentDefinitionNode | undefined): SelectionSize {
    if (fragment === undefined) return emptySize;
    const name = fragment.name.value;
    const measured = sizes.get(name);
    if (measured === 'being measured') isCyclic = true;
    if (measured !== undefined) return measured === 'being measured' ? emptySize : measured;
    sizes.set(name, 'being measured');
    const size = sizeOfSelectionSet(fragment.selectionSet);
    sizes.set(name, size);
    return size;
  }

  return {
    of(definition) {
      if (definition.kind === 'FragmentDefinition') return sizeOfFragment(definition);
      return sizeOfSelectionSet(definition.selectionSet);
    },
    hasMeasured: ({ name }) => sizes.has(name.value),
    isCyclic: () => isCyclic,
  };
}

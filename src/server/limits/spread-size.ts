import type {
  DirectiveNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';

/** How large a part of a document is with its fragments spread out. Numbers may be as large as `Infinity`. */
export interface SpreadSize {
  selections: number;
  /** Fields of the topmost level. */
  rootFields: number;
  aliases: number;
  directives: number;
  /** Fields within fields, but for those of an introspection. */
  depth: number;
  introspectionDepth: number;
}

export interface SpreadSizes {
  of(definition: OperationDefinitionNode | FragmentDefinitionNode): SpreadSize;
  /** The fragments that have been met so far. */
  readonly met: ReadonlyMap<string, unknown>;
  /** Whether a fragment that has been met spreads itself. */
  isCyclic(): boolean;
}

const nothing: SpreadSize = {
  selections: 0,
  rootFields: 0,
  aliases: 0,
  directives: 0,
  depth: 0,
  introspectionDepth: 0,
};

/** Measures definitions, each fragment once, so that fragments that double again and again cost no more than others. */
export function createSpreadSizes(fragments: ReadonlyMap<string, FragmentDefinitionNode>): SpreadSizes {
  const met = new Map<string, SpreadSize | 'underWay'>();
  let isCyclic = false;

  function ofSet(set: SelectionSetNode | undefined): SpreadSize {
    if (set === undefined) return nothing;
    const sum = { ...nothing };
    for (const selection of set.selections) {
      const size = ofSelection(selection);
      sum.selections += size.selections + 1;
      sum.rootFields += size.rootFields;
      sum.aliases += size.aliases;
      sum.directives += size.directives + countOf(selection.directives);
      sum.depth = Math.max(sum.depth, size.depth);
      sum.introspectionDepth = Math.max(sum.introspectionDepth, size.introspectionDepth);
    }
    return sum;
  }

  function ofSelection(selection: SelectionNode): SpreadSize {
    if (selection.kind === 'FragmentSpread') return ofFragment(selection.name.value);
    const inner = ofSet(selection.selectionSet);
    if (selection.kind === 'InlineFragment') return inner;
    const isIntrospection = selection.name.value === '__schema' || selection.name.value === '__type';
    return {
      ...inner,
      rootFields: 1,
      aliases: inner.aliases + (selection.alias === undefined ? 0 : 1),
      depth: isIntrospection ? 0 : inner.depth + 1,
      introspectionDepth: isIntrospection
        ? Math.max(inner.depth, inner.introspectionDepth) + 1
        : inner.introspectionDepth,
    };
  }

  function ofFragment(name: string): SpreadSize {
    const known = met.get(name);
    if (known === 'underWay') isCyclic = true;
    if (known !== undefined) return known === 'underWay' ? nothing : known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return nothing;
    met.set(name, 'underWay');
    const inner = ofSet(fragment.selectionSet);
    const size = { ...inner, directives: inner.directives + countOf(fragment.directives) };
    met.set(name, size);
    return size;
  }

  return {
    of(definition) {
      if (definition.kind === 'FragmentDefinition') return ofFragment(definition.name.value);
      const { directives, variableDefinitions = [], selectionSet } = definition;
      const size = ofSet(selectionSet);
      const own = variableDefinitions.reduce(
        (sum, variable) => sum + countOf(variable.directives),
        countOf(directives),
      );
      return { ...size, directives: size.directives + own };
    },
    met,
    isCyclic: () => isCyclic,
  };
}

function countOf(directives: readonly DirectiveNode[] | undefined): number {
  return directives?.length ?? 0;
}

import type { FieldNode, FragmentDefinitionNode, SelectionSetNode } from 'graphql';

/** A field, and how often it stands in one place. */
export interface Repeats {
  count: number;
  field: FieldNode | undefined;
}

/**
 * The field that stands most often in one place, fragments spread out, as fields of one name are answered as one. Only
 * for documents without cycles; it takes as long as there are selections, as often as they are spread.
 */
export function mostRepeats(
  set: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Repeats {
  let most: Repeats = { count: 0, field: undefined };

  function walk(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const each of sets) collect(each, fields, spread);
    for (const same of fields.values()) {
      if (same.length > most.count) most = { count: same.length, field: same[0] };
      const inner = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) walk(inner);
    }
  }

  function collect(
    { selections }: SelectionSetNode,
    fields: Map<string, FieldNode[]>,
    spread: Set<string>,
  ): void {
    for (const selection of selections) {
      if (selection.kind === 'Field') {
        const name = (selection.alias ?? selection.name).value;
        const same = fields.get(name);
        if (same === undefined) fields.set(name, [selection]);
        else same.push(selection);
      } else if (selection.kind === 'InlineFragment') {
        collect(selection.selectionSet, fields, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) collect(fragment.selectionSet, fields, spread);
      }
    }
  }

  walk([set]);
  return most;
}

import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';

/** Whether @skip and @include leave a selection in. @throws GraphQLError if a condition is null. */
export function isIncluded(selection: SelectionNode, variableValues: VariableValues): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false
  );
}

/**
 * Makes a predicate on a field: whether the operation selects more than the id of a record below it, at any of `paths`.
 * A path has the names of the fields that lead to the record, and is empty for the record of the field itself. Results
 * are cached by the nodes of the field: in the plan of an operation, a field has the same array of nodes for each row
 * of a list, and @skip and @include do not change. Without the cache, the predicate would take longer than the rest of
 * a row.
 */
export function selectsMoreThanIdAt(...paths: readonly (readonly string[])[]) {
  const cache = new WeakMap<readonly FieldNode[], boolean>();
  const evaluate = (info: GraphQLResolveInfo) =>
    paths.some((path) => info.fieldNodes.some(({ selectionSet }) => selectsMore(selectionSet, path, info)));
  return (info: GraphQLResolveInfo) => {
    const result = cache.get(info.fieldNodes) ?? evaluate(info);
    cache.set(info.fieldNodes, result);
    return result;
  };
}

const selectsMoreThanId = selectsMoreThanIdAt([]);

/** Whether a field with a record needs only its name, for `id` and `__typename`. */
export const selectsOnlyId = (info: GraphQLResolveInfo) => !selectsMoreThanId(info);

/** The limit on selections, which counts each spread of a fragment, bounds the recursion. */
function selectsMore(
  set: SelectionSetNode | undefined,
  path: readonly string[],
  info: GraphQLResolveInfo,
): boolean {
  const [next, ...rest] = path;
  return (set?.selections ?? []).some((selection) => {
    if (!isIncluded(selection, info.variableValues)) return false;
    if (selection.kind === Kind.INLINE_FRAGMENT) return selectsMore(selection.selectionSet, path, info);
    const name = selection.name.value;
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      return selectsMore(info.fragments[name]?.selectionSet, path, info);
    if (next === undefined) return name !== 'id' && name !== '__typename';
    return name === next && selectsMore(selection.selectionSet, rest, info);
  });
}

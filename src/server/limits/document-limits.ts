import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  NoFragmentCyclesRule,
  parse,
  type SelectionSetNode,
  UniqueFragmentNamesRule,
  type ValidationRule,
  validate,
} from 'graphql';
import {
  collectDefinitions,
  createSelectionSizes,
  type FieldSelection,
  type FragmentByName,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import { type Limits, limitExceeded, maxErrorsShown } from './limits.ts';

/**
 * Parses a document within the limits of characters and tokens.
 * @throws GraphQLError if the text exceeds a limit, or is not valid GraphQL.
 * @throws RangeError if the brackets of the text are nested too deeply for the stack.
 */
export function parseWithin({ documentCharacters, tokens }: Limits, text: string): DocumentNode {
  if (text.length > documentCharacters) {
    throw limitExceeded('documentCharacters', documentCharacters, text.length);
  }
  return parse(text, { maxTokens: tokens });
}

/** How a document within the limits is validated. */
export interface Validation {
  rules: readonly ValidationRule[];
  /** Whether errors omit suggestions of similar names. */
  hideSuggestions: boolean;
}

/** The errors of a document as clients see them: the first exceeded limit, or else the errors of validation. */
export function validateWithin(
  limits: Limits,
  schema: GraphQLSchema,
  document: DocumentNode,
  { rules, hideSuggestions }: Validation,
): readonly GraphQLError[] {
  const { operations, fragments } = collectDefinitions(document);
  const fragmentCount = document.definitions.filter(({ kind }) => kind === 'FragmentDefinition').length;
  if (fragmentCount > limits.fragments) {
    return [limitExceeded('fragments', limits.fragments, fragmentCount)];
  }
  const fragmentByName: FragmentByName = (name) => fragments.get(name);
  const sizes = createSelectionSizes(fragmentByName);
  const roots: SelectionSetNode[] = [];
  let selections = 0;
  for (const root of [...operations, ...fragments.values()]) {
    // Validation also walks fragments that no operation uses.
    if (root.kind === 'FragmentDefinition' && sizes.hasMeasured(root)) continue;
    roots.push(root.selectionSet);
    const size = sizes.of(root);
    selections += size.selections;
    for (const limit of ['depth', 'aliases'] as const) {
      if (size[limit] > limits[limit]) return [limitExceeded(limit, limits[limit], size[limit], root)];
    }
    if (selections > limits.selections) {
      return [limitExceeded('selections', limits.selections, selections, root)];
    }
  }
  const isCyclic = sizes.isCyclic();
  const repeatError = isCyclic ? undefined : checkRepeats(limits, roots, fragmentByName);
  if (repeatError !== undefined) return [repeatError];
  // The limits bound the cost of the other rules only if fragments have no cycles and unique names.
  const hasUsualFragments = !isCyclic && fragmentCount === fragments.size;
  return validate(schema, document, hasUsualFragments ? rules : fragmentRules, {
    hideSuggestions,
    maxErrors: affordableErrors(document),
  });
}

const fragmentRules = [UniqueFragmentNamesRule, NoFragmentCyclesRule];

/**
 * The error for a field that is repeated too often under one response name, fragments expanded. Undefined if there is
 * none. The document must have no fragment cycles. The time grows with the number of expanded selections.
 */
function checkRepeats(
  { repeats }: Limits,
  roots: readonly SelectionSetNode[],
  fragmentByName: FragmentByName,
): GraphQLError | undefined {
  function findRepeats(sets: readonly SelectionSetNode[]): readonly FieldSelection[] | undefined {
    for (const group of Map.groupBy(selectedFields(sets, fragmentByName), responseName).values()) {
      const found = group.length > repeats ? group : findRepeats(selectionSets(group));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  for (const root of roots) {
    const fields = findRepeats([root]);
    if (fields !== undefined) return limitExceeded('repeats', repeats, fields.length, fields[0]?.node);
  }
  return undefined;
}

// An error about a value prints the whole value, possibly most of the document: 10 ms per 100,000 characters.
const maxCharactersPrinted = 200_000;

/** How many errors validation looks for. */
function affordableErrors({ loc }: DocumentNode): number {
  const characters = loc?.source.body.length ?? 0;
  return Math.max(1, Math.min(maxErrorsShown, Math.floor(maxCharactersPrinted / characters)));
}

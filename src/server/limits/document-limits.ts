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
  type Fragments,
  responseName,
  SelectionSizes,
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
  const sizes = new SelectionSizes(fragments);
  const roots: SelectionSetNode[] = [];
  let selections = 0;
  for (const root of [...operations, ...fragments.values()]) {
    // Validation also walks fragments that no operation uses.
    if (root.kind === 'FragmentDefinition' && sizes.hasMeasured(root)) continue;
    roots.push(root.selectionSet);
    const size = sizes.measure(root);
    selections += size.selections;
    const counts = { depth: size.depth, aliases: size.aliases, selections };
    for (const limit of ['depth', 'aliases', 'selections'] as const) {
      if (counts[limit] > limits[limit]) return [limitExceeded(limit, limits[limit], counts[limit], root)];
    }
  }
  const repeats = sizes.isCyclic ? [] : findRepeats(roots, fragments, limits.repeats);
  if (repeats.length > 0) return [limitExceeded('repeats', limits.repeats, repeats.length, repeats[0]?.node)];
  // The limits bound the cost of the other rules only if fragments have no cycles and unique names.
  const hasUsualFragments = !sizes.isCyclic && fragmentCount === fragments.size;
  const usedRules = hasUsualFragments ? rules : [UniqueFragmentNamesRule, NoFragmentCyclesRule];
  const affordableErrors = Math.floor(maxCharactersPrinted / (document.loc?.source.body.length ?? 0));
  const maxErrors = Math.max(1, Math.min(maxErrorsShown, affordableErrors));
  return validate(schema, document, usedRules, { hideSuggestions, maxErrors });
}

// An error about a value prints the whole value, possibly most of the document: 10 ms per 100,000 characters.
const maxCharactersPrinted = 200_000;

/**
 * The selections of a field that is repeated more often than allowed under one response name, or none. Without cycles of
 * fragments. The time grows with the number of expanded selections.
 */
function findRepeats(roots: readonly SelectionSetNode[], fragments: Fragments, allowed: number) {
  // Each has the selection sets of one object.
  const pending = roots.map((root) => [root]);
  for (const sets of pending) {
    for (const group of Map.groupBy(selectedFields(sets, fragments), responseName).values()) {
      if (group.length > allowed) return group;
      pending.push(selectionSets(group));
    }
  }
  return [];
}

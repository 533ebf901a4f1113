import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  type ListValueNode,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  parse,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { firstErrors } from './first-errors.ts';
import { type Definitions, definitionsOf } from './fragments.ts';
import { limitExceeded } from './limit-exceeded.ts';
import type { Limits } from './limits.ts';
import { deepestNesting } from './nesting.ts';
import { mostRepeats } from './repeats.ts';
import { createSpreadSizes, type SpreadSizes } from './spread-size.ts';

/** Parses a text within the limits of text. @throws GraphQLError for what is beyond them, or is no GraphQL. */
export function parseWithin(limits: Limits, text: string): DocumentNode {
  if (text.length > limits.documentCharacters) {
    throw limitExceeded('documentCharacters', limits.documentCharacters, text.length);
  }
  const nesting = deepestNesting(text, limits.nesting);
  if (nesting > limits.nesting) {
    throw limitExceeded('nesting', limits.nesting, `more than ${limits.nesting}`);
  }
  try {
    return parse(text, { maxTokens: limits.tokens });
  } catch (error) {
    if (
      error instanceof GraphQLError &&
      error.message.startsWith('Syntax Error: Document contains more than ')
    ) {
      throw limitExceeded('tokens', limits.tokens, `more than ${limits.tokens}`);
    }
    throw error;
  }
}

/** How many errors validation looks for, so as to say how many there are that are not told. */
const maxErrorsCounted = 100;

/** How a document is validated, once it is known to be small enough. */
export interface Validation {
  rules: readonly ValidationRule[];
  hideSuggestions: boolean;
}

/** The errors of a document, as many as are told: the limit that it passes, or else what validation finds. */
export function validateWithin(
  limits: Limits,
  schema: GraphQLSchema,
  document: DocumentNode,
  { rules, hideSuggestions }: Validation,
): readonly GraphQLError[] {
  const definitions = definitionsOf(document);
  const sizes = createSpreadSizes(definitions.fragments);
  const refusal = beyondLimits(limits, document, definitions, sizes);
  if (refusal !== undefined) return [refusal];
  // What other rules take to validate cycles is not bounded by these limits.
  const bounded = sizes.isCyclic ? [NoFragmentCyclesRule] : rules;
  const options = { hideSuggestions, maxErrors: maxErrorsCounted };
  return firstErrors(validate(schema, document, bounded, options), limits.errors);
}

function beyondLimits(
  limits: Limits,
  document: DocumentNode,
  definitions: Definitions,
  sizes: SpreadSizes,
): GraphQLError | undefined {
  if (definitions.fragments.size > limits.fragments) {
    return limitExceeded('fragments', limits.fragments, definitions.fragments.size);
  }
  const roots: (OperationDefinitionNode | FragmentDefinitionNode)[] = [];
  let selections = 0;
  for (const root of [...definitions.operations, ...definitions.fragments.values()]) {
    // Fragments of no operation are validated too.
    if (root.kind === 'FragmentDefinition' && sizes.met.has(root.name.value)) continue;
    roots.push(root);
    const size = sizes.of(root);
    selections += size.selections;
    for (const limit of ['depth', 'introspectionDepth', 'aliases', 'directives', 'rootFields'] as const) {
      if (limit === 'rootFields' && root.kind === 'FragmentDefinition') continue;
      if (size[limit] > limits[limit]) return limitExceeded(limit, limits[limit], size[limit], root);
    }
    if (selections > limits.selections) {
      return limitExceeded('selections', limits.selections, selections, root);
    }
  }
  const list = longestList(document);
  if (list !== undefined && list.values.length > limits.listItems) {
    return limitExceeded('listItems', limits.listItems, list.values.length, list);
  }
  if (sizes.isCyclic) return undefined;
  for (const { selectionSet } of roots) {
    const { count, field } = mostRepeats(selectionSet, definitions.fragments);
    if (count > limits.repeats) return limitExceeded('repeats', limits.repeats, count, field);
  }
  return undefined;
}

function longestList(document: DocumentNode): ListValueNode | undefined {
  let longest: ListValueNode | undefined;
  visit(document, {
    ListValue(list) {
      if (list.values.length > (longest?.values.length ?? 0)) longest = list;
    },
  });
  return longest;
}

import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  type ListValueNode,
  NoFragmentCyclesRule,
  type ObjectValueNode,
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

/** How many errors validation looks for beyond those that are told. */
const maxErrorsUntold = 5;

// An error about a value prints it whole, which may be most of the document: 10 ms for each 100,000 characters.
const maxCharactersPrinted = 200_000;

function maxErrorsOf({ loc }: DocumentNode, told: number): number {
  const characters = loc?.source.body.length ?? 0;
  return Math.max(1, Math.min(told + maxErrorsUntold, Math.floor(maxCharactersPrinted / characters)));
}

/** How a document is validated, once it is known to be small enough. */
export interface Validation {
  rules: readonly ValidationRule[];
  /** Whether errors keep to themselves which names are near to one that is not there. */
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
  const bounded = sizes.isCyclic() ? [NoFragmentCyclesRule] : rules;
  const options = { hideSuggestions, maxErrors: maxErrorsOf(document, limits.errors) };
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
  const { list, object } = largestLiterals(document);
  if (list !== undefined && list.values.length > limits.listItems) {
    return limitExceeded('listItems', limits.listItems, list.values.length, list);
  }
  // Validation prints an object once for each field of it that its type doesn't have.
  if (object !== undefined && object.fields.length > limits.inputFields) {
    return limitExceeded('inputFields', limits.inputFields, object.fields.length, object);
  }
  if (sizes.isCyclic()) return undefined;
  for (const { selectionSet } of roots) {
    const { count, field } = mostRepeats(selectionSet, definitions.fragments);
    if (count > limits.repeats) return limitExceeded('repeats', limits.repeats, count, field);
  }
  return undefined;
}

/** The longest list and the largest input object among the values that stand in a document. */
function largestLiterals(document: DocumentNode): { list?: ListValueNode; object?: ObjectValueNode } {
  const largest: { list?: ListValueNode; object?: ObjectValueNode } = {};
  visit(document, {
    ListValue(list) {
      if (list.values.length > (largest.list?.values.length ?? 0)) largest.list = list;
    },
    ObjectValue(object) {
      if (object.fields.length > (largest.object?.fields.length ?? 0)) largest.object = object;
    },
  });
  return largest;
}

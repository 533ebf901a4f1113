import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type ListValueNode,
  NoFragmentCyclesRule,
  type ObjectValueNode,
  parse,
  type SelectionSetNode,
  UniqueFragmentNamesRule,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import {
  createSelectionSizes,
  definitionsOf,
  type FieldSelection,
  type FragmentOf,
  responseName,
  selectedFields,
  selectionSetsOf,
} from '../document-syntax/selections.ts';
import { fixedLimits, type Limits, limitExceeded, maxErrorsShown } from './limits.ts';
import { maxNesting } from './nesting.ts';
import { truncateErrors, withMessage } from './truncate-errors.ts';

/**
 * Parses a document within the limits of length, nesting and tokens.
 * @throws GraphQLError if the text exceeds a limit, or is not valid GraphQL.
 */
export function parseWithin(limits: Limits, text: string): DocumentNode {
  const { documentCharacters, nesting } = fixedLimits;
  if (text.length > documentCharacters) {
    throw limitExceeded('documentCharacters', documentCharacters, text.length);
  }
  if (maxNesting(text, nesting) > nesting) {
    throw limitExceeded('nesting', nesting, `more than ${nesting}`);
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

/** How a document within the limits is validated. */
export interface Validation {
  rules: readonly ValidationRule[];
  /** Whether errors omit suggestions of similar names. */
  hideSuggestions: boolean;
  /** Makes the errors that clients see. Their number is then limited. */
  errorsForClients(errors: readonly GraphQLError[]): readonly GraphQLError[];
}

/** The errors of a document as clients see them: the first exceeded limit, or else the errors of validation. */
export function validateWithin(
  limits: Limits,
  schema: GraphQLSchema,
  document: DocumentNode,
  { rules, hideSuggestions, errorsForClients }: Validation,
): readonly GraphQLError[] {
  const { operations, fragments } = definitionsOf(document);
  const fragmentCount = document.definitions.filter(({ kind }) => kind === 'FragmentDefinition').length;
  if (fragmentCount > fixedLimits.fragments) {
    return [limitExceeded('fragments', fixedLimits.fragments, fragmentCount)];
  }
  const fragmentOf: FragmentOf = (name) => fragments.get(name);
  const sizes = createSelectionSizes(fragmentOf);
  const maximums = { ...fixedLimits, ...limits };
  const roots: SelectionSetNode[] = [];
  let selections = 0;
  for (const root of [...operations, ...fragments.values()]) {
    // Validation also walks fragments that no operation uses.
    const isFragment = root.kind === 'FragmentDefinition';
    if (isFragment && sizes.hasMeasured(root)) continue;
    roots.push(root.selectionSet);
    const size = sizes.of(root);
    selections += size.selections;
    for (const limit of ['depth', 'introspectionDepth', 'aliases', 'directives', 'rootFields'] as const) {
      if (limit === 'rootFields' && isFragment) continue;
      if (size[limit] > maximums[limit]) return [limitExceeded(limit, maximums[limit], size[limit], root)];
    }
    if (selections > maximums.selections) {
      return [limitExceeded('selections', maximums.selections, selections, root)];
    }
  }
  const literalError = literalSizeError(limits, document);
  if (literalError !== undefined) return [literalError];
  const isCyclic = sizes.isCyclic();
  const repeatError = isCyclic ? undefined : repeatedFieldError(roots, fragmentOf);
  if (repeatError !== undefined) return [repeatError];
  // The limits bound the cost of the other rules only if fragments have no cycles and unique names.
  const affordableRules = isCyclic
    ? [NoFragmentCyclesRule]
    : fragmentCount > fragments.size
      ? [UniqueFragmentNamesRule]
      : rules;
  const options = { hideSuggestions, maxErrors: maxErrorsOf(document) };
  return truncateErrors(
    errorsForClients(validate(schema, document, affordableRules, options).map(withAlternative)),
  );
}

/** The messages of graphql-js about features that this server does not have, and what to use instead. */
const alternatives = new Map([
  [
    'The subscription operation is not supported by the schema.',
    'There are no subscriptions here: send a query, and send it again to see what has changed.',
  ],
  [
    'Unknown directive "@defer".',
    'There is no "@defer" here: send the fields that may come later as a query of their own.',
  ],
  [
    'Unknown directive "@stream".',
    'There is no "@stream" here: read the list page by page, with "first" and "after".',
  ],
]);

function withAlternative(error: GraphQLError): GraphQLError {
  const message = alternatives.get(error.message);
  return message === undefined ? error : withMessage(error, message);
}

/** The error for a list or an input object in the document that is too large. Undefined if there is none. */
function literalSizeError({ listItems }: Limits, document: DocumentNode): GraphQLError | undefined {
  const largest: { list?: ListValueNode; object?: ObjectValueNode } = {};
  visit(document, {
    ListValue(list) {
      if (list.values.length > (largest.list?.values.length ?? 0)) largest.list = list;
    },
    ObjectValue(object) {
      if (object.fields.length > (largest.object?.fields.length ?? 0)) largest.object = object;
    },
  });
  const { list, object } = largest;
  if (list !== undefined && list.values.length > listItems) {
    return limitExceeded('listItems', listItems, list.values.length, list);
  }
  const { inputFields } = fixedLimits;
  if (object !== undefined && object.fields.length > inputFields) {
    return limitExceeded('inputFields', inputFields, object.fields.length, object);
  }
  return undefined;
}

/**
 * The error for a field that is repeated too often under one response name, fragments expanded. Undefined if there is
 * none. The document must have no fragment cycles. The time grows with the number of expanded selections.
 */
function repeatedFieldError(
  roots: readonly SelectionSetNode[],
  fragmentOf: FragmentOf,
): GraphQLError | undefined {
  function mostRepeated(sets: readonly SelectionSetNode[]): readonly FieldSelection[] {
    let longest: readonly FieldSelection[] = [];
    for (const group of Map.groupBy(selectedFields(sets, fragmentOf), responseName).values()) {
      for (const fields of [group, mostRepeated(selectionSetsOf(group))]) {
        if (fields.length > longest.length) longest = fields;
      }
    }
    return longest;
  }

  for (const root of roots) {
    const fields = mostRepeated([root]);
    if (fields.length > fixedLimits.repeats) {
      return limitExceeded('repeats', fixedLimits.repeats, fields.length, fields[0]?.node);
    }
  }
  return undefined;
}

// Extra errors to look for, so that the last shown error can say how many are not shown.
const maxErrorsNotShown = 5;

// An error about a value prints the whole value, possibly most of the document: 10 ms per 100,000 characters.
const maxCharactersPrinted = 200_000;

/** How many errors validation looks for. */
function maxErrorsOf({ loc }: DocumentNode): number {
  const characters = loc?.source.body.length ?? 0;
  const affordable = Math.floor(maxCharactersPrinted / characters);
  return Math.max(1, Math.min(maxErrorsShown + maxErrorsNotShown, affordable));
}

import { type Limits, standardLimits } from '../server/limits/limits.ts';
import { type Setting, wholeNumber } from './setting.ts';

/** How large documents and their values may be. */
export const limitSettings = {
  documentCharacters: limit(
    'MAX_DOCUMENT_CHARACTERS',
    'documentCharacters',
    [100, 10_000_000],
    'Characters of a document, as JavaScript counts them.',
  ),
  tokens: limit('MAX_TOKENS', 'tokens', [10, 1_000_000], 'Tokens of a document.'),
  nesting: limit(
    'MAX_NESTING',
    'nesting',
    [5, 500],
    'Brackets within brackets, of a document or of the JSON of its variables.',
  ),
  depth: limit(
    'MAX_DEPTH',
    'depth',
    [1, 200],
    'Fields within fields, fragments spread out; those of an introspection aside.',
  ),
  introspectionDepth: limit(
    'MAX_INTROSPECTION_DEPTH',
    'introspectionDepth',
    [1, 200],
    'Fields within fields of an introspection; the query of GraphiQL has up to 15.',
  ),
  selections: limit(
    'MAX_SELECTIONS',
    'selections',
    [10, 100_000],
    'Fields and fragments of a document, each as often as it is spread.',
  ),
  fragments: limit('MAX_FRAGMENTS', 'fragments', [0, 10_000], 'Definitions of fragments in a document.'),
  repeats: limit('MAX_REPEATS', 'repeats', [1, 10_000], 'How often one field may stand in one place.'),
  aliases: limit(
    'MAX_ALIASES',
    'aliases',
    [0, 10_000],
    'Aliases of an operation, each as often as it is spread.',
  ),
  rootFields: limit('MAX_ROOT_FIELDS', 'rootFields', [1, 10_000], 'Fields at the root of an operation.'),
  directives: limit(
    'MAX_DIRECTIVES',
    'directives',
    [0, 10_000],
    'Directives of an operation, each as often as it is spread.',
  ),
  listItems: limit(
    'MAX_LIST_ITEMS',
    'listItems',
    [1, 100_000],
    'Items of one list in an argument or a variable, at any level.',
  ),
  inputFields: limit(
    'MAX_INPUT_FIELDS',
    'inputFields',
    [1, 10_000],
    'Fields of one input object in an argument or a variable, at any level.',
  ),
  values: limit(
    'MAX_VALUES',
    'values',
    [10, 1_000_000],
    'Fields and items in all variables of an operation.',
  ),
  valueCharacters: limit(
    'MAX_VALUE_CHARACTERS',
    'valueCharacters',
    [100, 10_000_000],
    'Characters of all texts and names of fields in the variables of an operation.',
  ),
  first: limit('MAX_FIRST', 'first', [0, 1_000], 'Rows of one page, where its list does not say less.'),
  nodes: limit(
    'MAX_NODES',
    'nodes',
    [1, 100_000_000],
    'Objects that an operation can give at most, by the real values of its variables.',
  ),
  errors: limit('MAX_ERRORS', 'errors', [1, 100], 'Errors that are told of one refused request.'),
} satisfies Record<keyof Limits, Setting<number>>;

function limit(variable: string, name: keyof Limits, range: [number, number], meaning: string) {
  return wholeNumber(variable, String(standardLimits[name]), range, meaning);
}

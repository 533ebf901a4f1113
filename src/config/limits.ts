import { wholeNumber } from './setting.ts';

/** Limits of documents and their values. Error messages name a limit by its key in this object. */
export const limitSettings = {
  tokens: wholeNumber('MAX_TOKENS', '5000', [10, 1_000_000], 'Tokens of a document.'),
  depth: wholeNumber(
    'MAX_DEPTH',
    '12',
    [1, 200],
    'Fields within fields, fragments spread out; those of an introspection aside.',
  ),
  aliases: wholeNumber(
    'MAX_ALIASES',
    '30',
    [0, 10_000],
    'Aliases of an operation, each as often as it is spread.',
  ),
  listItems: wholeNumber(
    'MAX_LIST_ITEMS',
    '100',
    [1, 100_000],
    'Items of one list in an argument or a variable, at any level.',
  ),
  valueCharacters: wholeNumber(
    'MAX_VALUE_CHARACTERS',
    '262144',
    [100, 10_000_000],
    'Characters of all texts and names of fields in the variables of an operation.',
  ),
  first: wholeNumber('MAX_FIRST', '1000', [0, 1_000], 'Rows of one page, where its list does not say less.'),
  nodes: wholeNumber(
    'MAX_NODES',
    '10000',
    [1, 100_000_000],
    'Objects that an operation can give at most, by the real values of its variables.',
  ),
};

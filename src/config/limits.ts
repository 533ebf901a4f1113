import { wholeNumber } from './setting.ts';

/** Limits of documents and their values. Error messages name a limit by its key in this object. */
export const limitSettings = {
  tokens: wholeNumber(
    'MAX_TOKENS',
    '5000',
    [10, 1_000_000],
    'The highest number of lexical tokens of a document.',
  ),
  depth: wholeNumber(
    'MAX_DEPTH',
    '12',
    [1, 200],
    'The highest number of nested fields, with fragments expanded. Introspection has a limit of its own.',
  ),
  aliases: wholeNumber(
    'MAX_ALIASES',
    '30',
    [0, 10_000],
    'The highest number of aliases of an operation. An alias counts each time its fragment is used.',
  ),
  listItems: wholeNumber(
    'MAX_LIST_ITEMS',
    '100',
    [1, 100_000],
    'The highest number of items of one list in an argument or a variable, at any level.',
  ),
  valueCharacters: wholeNumber(
    'MAX_VALUE_CHARACTERS',
    '262144',
    [100, 10_000_000],
    'The highest number of characters of all texts and field names in the variables of an operation.',
  ),
  first: wholeNumber(
    'MAX_FIRST',
    '1000',
    [0, 1_000],
    'The highest value of `first`. A list may have a lower limit of its own.',
  ),
  nodes: wholeNumber(
    'MAX_NODES',
    '3000',
    [1, 100_000_000],
    'The highest number of objects that an operation can return, computed with the values of its variables.',
  ),
};

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
    'The highest number of nested fields, with fragments expanded. Introspection does not count.',
  ),
  nodes: wholeNumber(
    'MAX_NODES',
    '3000',
    [1, 100_000_000],
    'The highest number of objects that an operation can return, computed with the values of its variables.',
  ),
};

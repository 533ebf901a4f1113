import { BadInputError } from '../../rest/errors.ts';

// Several times the length of any name or reference. It fits a URL even if each character takes 12 bytes there.
const maxCharacters = 256;

/**
 * Checks the length of a search text, because REST receives it in the URL.
 * @param argument the name of the GraphQL argument, for the error message
 * @throws BadInputError for more than 256 characters (code points), without a REST call
 */
export function searchText<Text extends string | null | undefined>(argument: string, text: Text): Text {
  // A text never has more code points than UTF-16 units, so most texts need no count.
  if (typeof text !== 'string' || text.length <= maxCharacters) return text;
  const characterCount = text.length > 2 * maxCharacters ? `more than ${maxCharacters}` : [...text].length;
  if (typeof characterCount === 'number' && characterCount <= maxCharacters) return text;
  throw new BadInputError(
    `Expected "${argument}" to have at most ${maxCharacters} characters, but it has ${characterCount}.`,
  );
}

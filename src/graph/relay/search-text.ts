import { BadInputError } from '../../rest/errors.ts';

// Several times as long as any name or reference, and short enough for a URL even where each character takes 12 in it.
const maxCharacters = 256;

/**
 * A text that REST is to search for, which is sent in the URL.
 * @param argument what the client knows the text as
 * @throws BadInputError where it is longer than 256 characters (code points), without a call.
 */
export function searchText<Text extends string | null | undefined>(argument: string, text: Text): Text {
  // Most texts have fewer units than there may be characters.
  if (typeof text !== 'string' || text.length <= maxCharacters) return text;
  const characters = text.length > 2 * maxCharacters ? `more than ${maxCharacters}` : [...text].length;
  if (typeof characters === 'number' && characters <= maxCharacters) return text;
  throw new BadInputError(
    `Expected "${argument}" to have at most ${maxCharacters} characters, but it has ${characters}.`,
  );
}

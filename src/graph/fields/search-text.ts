import { BadInputError } from '../../rest/errors.ts';

// Code points. They fit a URL even if each takes 12 bytes there.
const maxCharacters = 256;

/** Checks the length of a search text, because REST gets it in the URL. @throws BadInputError that names `argument` */
export function searchText<Text extends string | null | undefined>(argument: string, text: Text): Text {
  if (typeof text !== 'string' || text.length <= maxCharacters) return text;
  // A longer text need not be counted.
  const count = text.length > 2 * maxCharacters ? undefined : [...text].length;
  if (count !== undefined && count <= maxCharacters) return text;
  throw new BadInputError(
    `Expected "${argument}" to have at most ${maxCharacters} characters, but it has ${count ?? `more than ${maxCharacters}`}.`,
  );
}

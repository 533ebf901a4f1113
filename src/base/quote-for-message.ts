/** Formats an id for an error message: quoted, with control characters escaped, and cut. */
export function quoteForMessage(id: string, maxCharacters = 64): string {
  const text = JSON.stringify(id.length > maxCharacters ? `${id.slice(0, maxCharacters)}…` : id);
  // JSON.stringify does not escape control characters beyond ASCII, nor line and paragraph separators.
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

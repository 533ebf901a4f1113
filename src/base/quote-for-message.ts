/** Formats an id for an error message: quoted, with control characters escaped, cut at 64 characters. */
export function quoteForMessage(id: string): string {
  const text = JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
  // JSON.stringify does not escape control characters beyond ASCII, nor line and paragraph separators.
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

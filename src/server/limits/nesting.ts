/**
 * The deepest nesting of brackets in the text of a document. Counting ends beyond `limit`. One pass over the text
 * without recursion, so that no text overflows the stack, as it could in a parser.
 */
export function maxNesting(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '(':
      case '[':
      case '{':
        depth += 1;
        if (depth > deepest) deepest = depth;
        if (deepest > limit) return deepest;
        break;
      case ')':
      case ']':
      case '}':
        // An unmatched closing bracket: the parser stops at the same position.
        if (depth > 0) depth -= 1;
        break;
      case '"':
        index = text.startsWith('"""', index) ? endOfBlockString(text, index) : endOfString(text, index);
        break;
      case '#':
        index = endOfLine(text, index);
        break;
    }
  }
  return deepest;
}

/** The index of the closing quote, or of the end of the line if the string is not closed. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '"' || character === '\n' || character === '\r') return index;
  }
  return text.length;
}

/** The index of the last closing quote. In a block string, a backslash escapes only three quotes. */
function endOfBlockString(text: string, start: number): number {
  let end = text.indexOf('"""', start + 3);
  while (end > 0 && text[end - 1] === '\\') end = text.indexOf('"""', end + 3);
  return end < 0 ? text.length : end + 2;
}

function endOfLine(text: string, start: number): number {
  let index = start;
  while (index < text.length && text[index] !== '\n' && text[index] !== '\r') index += 1;
  return index;
}

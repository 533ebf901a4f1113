const sentence = 'Revisar cada bolsa antes de empacar: sello, fecha de tostión y gramaje. ';

/** Returns a text of exactly `length` characters. */
export function textOfLength(length: number): string {
  return `${sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length - 1)}.`;
}

/** The longest note that the REST interface accepts: 2048 characters ("Limits"). */
export const longNote = textOfLength(2048);

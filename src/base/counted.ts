/** A number with its noun for a sentence: `1 call`, `2 calls`. @param noun in the singular, with a regular plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

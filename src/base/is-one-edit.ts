/**
 * Whether a text may be a typo of the other: one character is added, removed, changed, or swapped with the next one. So
 * an error about an unknown name can tell which name is meant.
 */
export function isOneEdit(one: string, other: string): boolean {
  let commonLength = 0;
  while (commonLength < one.length && one[commonLength] === other[commonLength]) commonLength += 1;
  const [left, right] = [one.slice(commonLength), other.slice(commonLength)];
  return (
    left.slice(1) === right ||
    left === right.slice(1) ||
    left.slice(1) === right.slice(1) ||
    left.slice(1, 2) + left.slice(0, 1) + left.slice(2) === right
  );
}

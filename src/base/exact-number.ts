/**
 * Whether a parsed JSON number can be what was sent. A number beyond ±(2^53 - 1) is whole, and JSON.parse may have
 * rounded its last digits.
 */
export function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Milliseconds of the machine's monotonic clock, which all processes of the machine share. A boot restarts the clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

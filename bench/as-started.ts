/** The arguments with which `npm start` runs Node, as what it runs is what is measured. */
export const asStarted: readonly string[] = [
  '--v8-pool-size=1',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=150',
  'src/main.ts',
];

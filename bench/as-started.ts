/** What `npm start` has Node run, which is what is measured. */
export const asStarted: readonly string[] = ['--v8-pool-size=1', 'src/main.ts'];

import { defineConfig } from 'vitest/config';

// As Node itself resolves packages, so that the tests and the libraries share one copy of `graphql`: two copies don't
// know each other's types. Node gets these conditions for `require` too, so `import` must not be one: `pg` requires a
// package that has another form for `import`.
const conditions = ['module-sync', 'node', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/set-up.ts'],
    globalSetup: ['test/set-up-all.ts'],
    // A test that hangs fails by it. A busy machine takes five times as long as a quiet one.
    testTimeout: 100_000,
    hookTimeout: 100_000,
    expect: { poll: { timeout: 90_000 } },
    // More than the two cores of CI: many files wait for timeouts and processes.
    maxWorkers: 4,
    // The files share nothing but what they import, which would take longer to load anew than most of them to run.
    isolate: false,
  },
});

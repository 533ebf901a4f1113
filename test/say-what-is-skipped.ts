import { howToGetPostgres, programs } from './fixtures/postgres-programs.ts';

/** Says once, before all tests, which of them this machine cannot run. @throws Error where CI must run all */
export function setup(): void {
  if (programs !== undefined) return;
  if (process.env.POSTGRES_TESTS === 'required') throw new Error(howToGetPostgres);
  process.stderr.write(`${howToGetPostgres}\n`);
}

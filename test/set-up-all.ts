import { hasScanner, howToGetScanner } from './fixtures/barcode-programs.ts';
import { howToGetPostgres, makeParentFolder, programs } from './fixtures/postgres-programs.ts';

/** Says once, before all tests, which of them this machine cannot run. @throws Error where CI must run all */
export function setup(): (() => Promise<void>) | undefined {
  if (!hasScanner) {
    if (process.env.SCANNER_TESTS === 'required') throw new Error(howToGetScanner);
    process.stderr.write(`${howToGetScanner}\n`);
  }
  if (programs !== undefined) return makeParentFolder();
  if (process.env.POSTGRES_TESTS === 'required') throw new Error(howToGetPostgres);
  process.stderr.write(`${howToGetPostgres}\n`);
  return undefined;
}

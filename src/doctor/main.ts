/** `npm run doctor`: examines a REST service or a key store before Waybill is deployed on it, and prints the settings. */

import { existsSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Config, ConfigError, readConfig } from '../config/config.ts';
import { accessTokenForm, isAccessToken } from '../rest/access-token-form.ts';
import { help, readOptions, UsageError, usage } from './command-line.ts';
import { examine, type Report } from './examine.ts';
import { compare, joinReports, readBaseline, toTable, toVariables } from './report.ts';

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
  process.exitCode = error instanceof ConfigError ? 1 : 2;
  console.error(`${error.message}\n${usage}`);
}

/** @returns the exit code: 0 usable or help, 1 not usable. @throws UsageError */
async function run(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(help);
    return 0;
  }
  const { url = '', json, write, baseline: file, conversation } = options;
  const stateUrl = readStateUrl(options['state-url'] ?? process.env.STATE_URL);
  if (url === '' && stateUrl === undefined)
    throw new UsageError(
      'Expected --url with the address of the REST service, or --state-url with the URL of the database.',
    );
  const baseline = file === undefined ? undefined : readBaseline(file);
  if (file !== undefined && baseline === undefined)
    throw new UsageError(`--baseline: expected a file with the output of --json, but got ${file}.`);
  if (write !== undefined && url === '')
    throw new UsageError(
      '--write: expected --url too, because the file gets the settings for the REST service.',
    );
  if (write !== undefined && existsSync(write))
    throw new UsageError(`--write: expected a new file, but ${write} exists.`);
  const reports: Report[] = [];
  if (url !== '')
    reports.push(await examine({ ...readService(url), token: await readToken(), conversation, onCall }));
  if (stateUrl !== undefined) {
    // Imported here, because most services are examined without a store.
    const { examineStore } = await import('./examine-store.ts');
    reports.push(await examineStore(stateUrl));
  }
  const examined = joinReports(reports);
  const report = baseline === undefined ? examined : compare(examined, baseline);
  console.log(json ? JSON.stringify(report, undefined, 2) : toTable(report));
  if (write !== undefined && report.isUsable)
    writeFileSync(write, `# Settings verified by npm run doctor.\n${toVariables(report)}`);
  return report.isUsable ? 0 : 1;
}

async function readToken(): Promise<string> {
  const given = process.env.WAYBILL_TOKEN;
  if (!given)
    console.error('Reading the access token from standard input. To end the input, press Enter and Ctrl+D.');
  const token = (given || (await text(process.stdin))).trim();
  if (isAccessToken(token)) return token;
  const expected = `an access token without "Bearer", of ${accessTokenForm}`;
  throw new UsageError(`WAYBILL_TOKEN or standard input: expected ${expected}.`);
}

/** The server's own settings say what an address is, and which proxy to use. @throws ConfigError */
function readService(address: string): { url: URL; proxy: Config['proxy'] } {
  const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name));
  const { upstreamUrl: url, proxy } = readConfig({ ...Object.fromEntries(proxies), UPSTREAM_URL: address });
  if (url === undefined)
    throw new ConfigError('--url: expected the address of a live service, but got "sandbox".');
  return { url, proxy };
}

/** @throws ConfigError, without the password */
function readStateUrl(address = ''): Config['stateUrl'] {
  return readConfig({ STATE_URL: address }).stateUrl;
}

function onCall(number: number, call: string): void {
  console.error(`${String(number).padStart(2)} ${call}`);
}

import { parseArgs } from 'node:util';
import { isOneEdit } from '../base/is-one-edit.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const helpFlag = { ...flag, short: 'h' } as const;
const options = {
  url: text,
  'state-url': text,
  json: flag,
  write: text,
  baseline: text,
  conversation: text,
  help: helpFlag,
};

/** The first lines of `help`, for an error message. */
export const usage = `Usage: npm run doctor -- --url ADDRESS [--json] [--write FILE] [--baseline FILE] [--conversation ID]
       npm run doctor -- --state-url URL
Set the access token in WAYBILL_TOKEN, or pass it on standard input.
If the URL of the database has a password, set that URL in STATE_URL.`;

/** What `--help` prints. docs/doctor.md has the same table. */
export const help = `${usage}

  --url ADDRESS      The base address of the REST service, without /v1.
  --state-url URL    The PostgreSQL database of the keys, by default that of STATE_URL.
  --json             Prints JSON instead of the table.
  --write FILE       Writes the settings to a new file, if the service is usable.
  --baseline FILE    Compares with the JSON of an earlier run. A difference is a failure.
  --conversation ID  A conversation to read: channels/<id>/conversations/<id>.
  --help             Prints this text.`;

/** The doctor was called in a wrong way. The message does not quote values, because one may be an access token. */
export class UsageError extends Error {}

/** The values of the options. @throws UsageError that names the option and what it expects */
export function readOptions(args: readonly string[]) {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const isHelp = tokens.some((token) => token.kind === 'option' && token.name === 'help');
  if (isHelp) return { help: true };
  for (const token of tokens) {
    if (token.kind === 'positional')
      throw new UsageError('Expected only options, which begin with --, but got another argument.');
    if (token.kind === 'option') checkOption(token);
  }
  return parseArgs({ args: [...args], options }).values;
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function checkOption({ name, rawName, value, inlineValue }: OptionToken): void {
  const isFlag = Object.hasOwn(options, name) && options[name as keyof typeof options].type === 'boolean'; // Its own key.
  if (!Object.hasOwn(options, name) || !rawName.startsWith('--')) throw unknownOption(name, rawName);
  if (isFlag && inlineValue) throw new UsageError(`--${name}: expected no value.`);
  // The next option in place of a value.
  if (!isFlag && (!value || (!inlineValue && value.startsWith('-'))))
    throw new UsageError(`--${name}: expected a value after it.`);
}

function unknownOption(name: string, rawName: string): UsageError {
  const meant = Object.keys(options).find((option) => isOneEdit(name.toLowerCase(), option));
  // A longer word may be an access token.
  const shown = /^--?[a-z][a-z-]{0,15}$/i.test(rawName) ? ` ${rawName}` : '';
  return new UsageError(`Unknown option${shown}${meant === undefined ? '.' : `; did you mean --${meant}?`}`);
}

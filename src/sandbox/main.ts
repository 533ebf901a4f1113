import { parseArgs } from 'node:util';
import { defaultQuirks, type Quirks } from './faults/quirks.ts';
import { startSandbox } from './sandbox.ts';

const help = `Usage: npm run sandbox -- [--port PORT] [--host ADDRESS] [--quirks JSON] [--file FILE]

  --port PORT     The port, by default 4001. 0 is any free port.
  --host ADDRESS  The address to listen on, by default 127.0.0.1.
  --quirks JSON   Differences from the interface, such as '{"parameterNames":{"pageSize":"limit"}}'.
  --file FILE     The SQLite file of the data. Without a file, the data is in memory.
  --help          Prints this text.`;

const values = readOptions();
if (values.help) {
  console.log(help);
  process.exit(0);
}
if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
  refuse(`--port: expected a port from 0 to 65535, but got "${values.port}".`);
const quirks =
  readQuirks(values.quirks) ??
  refuse(`--quirks: expected JSON with some of ${Object.keys(defaultQuirks).join(', ')}.`);

const { host, file } = values;
const port = Number(values.port);
const sandbox = await startSandbox({ host, port, quirks, ...(file === undefined ? {} : { file }) }).catch(
  (error: unknown) => refuse(explainStart(error)),
);

const { first, firstRefreshed, second } = sandbox.tokens;
console.log(`REST    ${sandbox.url} (OpenAPI at ${sandbox.url}/openapi.json)
Tokens  ${first} and ${firstRefreshed} of one merchant, ${second} of another
Try     curl -s '${sandbox.url}/v1/orders?pageSize=3' -H 'authorization: Bearer ${first}'
End     curl -s -X POST '${sandbox.url}/sandbox/tokens/end' -H 'authorization: Bearer ${first}'`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => sandbox.close());
}

/** The values are those of a developer, and are not checked. */
function readQuirks(text: string): Partial<Quirks> | undefined {
  try {
    const quirks: object = JSON.parse(text);
    return Object.keys(quirks).every((name) => Object.hasOwn(defaultQuirks, name)) ? quirks : undefined;
  } catch {
    return undefined;
  }
}

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const options = {
      host: { ...text, default: '127.0.0.1' },
      port: { ...text, default: '4001' },
      quirks: { ...text, default: '{}' },
      file: text,
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence: the next ones are about positional arguments, and there are none.
    return refuse(`${error.message.split(/[.\n]/, 1)}.\n${help}`);
  }
}

/** Why the sandbox could not start. An error without a code of the network is one of the file. */
function explainStart(error: unknown): string {
  const { code, message } = Object(error);
  if (code === 'EADDRINUSE') return `--port: port ${port} of ${host} is in use. Use another port, or 0.`;
  if (code === 'EACCES' && file === undefined)
    return `--port: this user may not listen on port ${port}. Use a port from 1024.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `--host: "${host}" is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for every IPv4 address.`;
  if (file === undefined) throw error;
  return `--file: the sandbox cannot use ${file}. ${message}.`;
}

/** Ends the process before it serves. */
function refuse(problem: string): never {
  console.error(problem);
  process.exit(2);
}

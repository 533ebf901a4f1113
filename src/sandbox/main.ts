import { parseArgs } from 'node:util';
import { defaultQuirks, type Quirks } from './faults/quirks.ts';
import { startSandbox } from './sandbox.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '4001' },
    file: { type: 'string' },
    quirks: { type: 'string', default: '{}' },
  },
});

if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
  console.error(`--port: expected a port from 0 to 65535, but got "${values.port}".`);
  process.exit(1);
}

const quirks = readQuirks(values.quirks);
if (quirks === undefined) {
  console.error(`--quirks: expected JSON with some of ${Object.keys(defaultQuirks).join(', ')}.`);
  process.exit(1);
}

const sandbox = await startSandbox({
  host: values.host,
  port: Number(values.port),
  quirks,
  ...(values.file === undefined ? {} : { file: values.file }),
});

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

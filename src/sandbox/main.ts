import { startSandbox } from './sandbox.ts';

// The sandbox shares no code with the server, so that it reads its own three settings.
const { SANDBOX_HOST: host, SANDBOX_PORT: port = '4001', SANDBOX_FILE: file } = process.env;

if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
  console.error(`SANDBOX_PORT must be a port from 0 to 65535, not "${port}"`);
  process.exit(1);
}

const sandbox = await startSandbox({
  port: Number(port),
  ...(host === undefined ? {} : { host }),
  ...(file === undefined ? {} : { file }),
});

console.log(`REST    ${sandbox.url} (OpenAPI at ${sandbox.url}/openapi.json)
Tokens  ${sandbox.tokens.first}, ${sandbox.tokens.second}
Try     curl -s '${sandbox.url}/v1/orders?pageSize=3' -H 'authorization: Bearer ${sandbox.tokens.first}'`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => sandbox.close());
}

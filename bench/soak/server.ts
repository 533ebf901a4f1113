// The server of the soak: as `npm start` runs it, but with small caches and a short time for slow clients.
// Its caches are full before the second half of the attack. After that, only a leak lets the heap grow.

import { readConfig } from '../../src/config/config.ts';
import { openKeyStore } from '../../src/process/open-key-store.ts';
import { endOnSignals, logFlushTimeoutMs } from '../../src/process/signals.ts';
import { startServer } from '../../src/process/start-server.ts';
import { openUpstream } from '../../src/process/upstream.ts';
import { createJsonLog, createStandardOutput } from '../../src/telemetry/json-log.ts';

const config = readConfig(process.env);
const output = createStandardOutput();
const server = await startServer(config, {
  upstream: await openUpstream(config),
  trustedDocuments: undefined,
  keyStore: await openKeyStore(config),
  log: createJsonLog(config.logLevel, output.stream),
  forTests: { documentCacheBytes: 1_000_000, persistedQueryBytes: 100_000, responseTimeoutMs: 2_000 },
});
endOnSignals(async (reason) => {
  await server.end(reason);
  await output.end(logFlushTimeoutMs);
}, output.abandon);

import type { Config } from '../config/config.ts';
import { createJsonLog } from '../telemetry/json-log.ts';
import { openKeyStore } from './key-store.ts';
import type { ServedProcesses, ServeParts } from './serve.ts';
import { startServer } from './start-server.ts';

/** Starts the server in this process. @throws ConfigError and TrustedDocumentsError. */
export async function startSingleProcess(config: Config, parts: ServeParts): Promise<ServedProcesses> {
  const { upstream, trustedDocuments, output } = parts;
  const log = createJsonLog(config.logLevel, output.stream);
  const keyStore = await openKeyStore(config.stateFile);
  return startServer(config, { upstream, trustedDocuments, keyStore, log });
}

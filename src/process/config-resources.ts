import type { RequestListener } from 'node:http';
import type { Config } from '../config/config.ts';
import { readTrustedDocuments, type TrustedDocuments } from '../server/documents/trusted-documents.ts';
import type { OnHttpError } from '../server/http/http-error.ts';
import { type Listener, listen } from '../server/http/http-server.ts';
import { unusableSetting } from './startup-errors.ts';

/** Reads the documents of OPERATIONS_FILE; undefined if not set. @throws ConfigError if the file cannot be read. */
export async function trustedDocumentsOf({
  operationsFile: file,
}: Config): Promise<TrustedDocuments | undefined> {
  if (file === undefined) return undefined;
  return readTrustedDocuments(file).catch((error: unknown) => {
    throw unusableSetting(`OPERATIONS_FILE: expected documents by their ids, but got ${file}`, error);
  });
}

/** Returns whether `/metrics` is served. */
export function hasMetrics({ metrics, metricsPort, upstreamUrl }: Config): boolean {
  return metrics ?? (upstreamUrl === undefined || metricsPort !== undefined);
}

/**
 * Starts an HTTP server on HOST and `port`.
 * @param variable the name of the port's setting.
 * @throws ConfigError that names the setting if the address is in use or invalid.
 */
export function listenOn(
  variable: string,
  port: number,
  requestListener: RequestListener,
  { host, listener }: Config,
  onHttpError: OnHttpError,
): Promise<Listener> {
  return listen(requestListener, host, port, listener, onHttpError).catch((error: unknown) => {
    throw unusableSetting(
      `HOST and ${variable}: expected an address that is free, but got ${host}:${port}`,
      error,
    );
  });
}

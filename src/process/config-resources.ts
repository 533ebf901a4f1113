import type { RequestListener } from 'node:http';
import type { Config } from '../config/config.ts';
import type { TrustedDocuments } from '../server/documents/trusted-documents.ts';
import { readTrustedDocuments } from '../server/documents/trusted-documents.ts';
import type { OnHttpError } from '../server/http/http-error.ts';
import { type Listener, listen } from '../server/http/http-server.ts';
import { unusableSetting } from './startup-errors.ts';

/** The documents of OPERATIONS_FILE, where there is one. @throws ConfigError where they can't be read. */
export async function trustedDocumentsOf({
  operationsFile: file,
}: Config): Promise<TrustedDocuments | undefined> {
  if (file === undefined) return undefined;
  return readTrustedDocuments(file).catch((error: unknown) => {
    throw unusableSetting(`OPERATIONS_FILE: expected documents by their ids, but got ${file}`, error);
  });
}

/** Whether metrics are shown at all. */
export function hasMetrics({ metrics, metricsPort, upstreamUrl }: Config): boolean {
  return metrics ?? (upstreamUrl === undefined || metricsPort !== undefined);
}

/** Listens where a setting says. @throws ConfigError that names the setting where the address can't be had. */
export function listenOn(
  variable: string,
  port: number,
  answer: RequestListener,
  { host, listener }: Config,
  onHttpError: OnHttpError,
): Promise<Listener> {
  return listen(answer, host, port, listener, onHttpError).catch((error: unknown) => {
    throw unusableSetting(
      `HOST and ${variable}: expected an address that is free, but got ${host}:${port}`,
      error,
    );
  });
}

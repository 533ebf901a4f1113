import type { RequestListener } from 'node:http';
import type { Config } from '../config/config.ts';
import type { OnHttpError } from '../server/http/http-error.ts';
import { type Listener, listen } from '../server/http/http-server.ts';
import { unusableSetting } from './startup-errors.ts';

/** Starts an HTTP server on HOST and `port`. @throws ConfigError that names `variable` if the address can't be used */
export function listenOn(
  variable: string,
  port: number,
  requestListener: RequestListener,
  { host, maxConnections, keepAliveTimeoutMs, drainGraceMs }: Config,
  onHttpError: OnHttpError,
  responseTimeoutMs?: number,
): Promise<Listener> {
  const options = { maxConnections, keepAliveTimeoutMs, drainGraceMs, responseTimeoutMs };
  return listen(requestListener, host, port, options, onHttpError).catch((error: unknown) => {
    throw unusableSetting(`HOST and ${variable}: expected a free address, but got ${host}:${port}`, error);
  });
}

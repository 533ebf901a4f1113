import type { RequestListener } from 'node:http';
import { type Config, ConfigError } from '../config/config.ts';
import type { OnHttpError } from '../server/http/http-error.ts';
import { type Listener, type ListenerOptions, listen } from '../server/http/http-server.ts';
import { unusableSetting } from './startup-errors.ts';

/** Starts an HTTP server on HOST and `port`. @throws ConfigError that names `variable` if the address can't be used */
export function listenOn(
  variable: string,
  port: number,
  requestListener: RequestListener,
  { host, maxConnections, keepAliveTimeoutMs, drainGraceMs }: Config,
  onHttpError: OnHttpError,
  overrides: Partial<ListenerOptions> = {},
): Promise<Listener> {
  const options = { maxConnections, keepAliveTimeoutMs, drainGraceMs, ...overrides };
  return listen(requestListener, host, port, options, onHttpError).catch((error: unknown) => {
    throw explainListenError(variable, host, port, error);
  });
}

/** The error for the operator of a server that cannot listen. @param variable the setting of the port */
export function explainListenError(
  variable: string,
  host: string,
  port: number,
  error: unknown,
): ConfigError {
  const problem = problemOf(variable, host, port, Object(error).code);
  return problem === undefined
    ? unusableSetting(`HOST and ${variable}: expected a free address, but got ${host}:${port}`, error)
    : new ConfigError(problem, { cause: error });
}

function problemOf(variable: string, host: string, port: number, code: unknown): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `${variable}: port ${port} of ${host} is in use. Stop the other process, or set ${variable} to another port.`;
    case 'EACCES': {
      const allowed = port < 1_024 ? 'a port from 1024 on, such as 4000' : 'another port';
      return `${variable}: this user may not listen on port ${port}. Set ${variable} to ${allowed}.`;
    }
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'ENOTFOUND':
      return `HOST: ${JSON.stringify(host)} is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for every IPv4 address.`;
    default:
      return undefined;
  }
}

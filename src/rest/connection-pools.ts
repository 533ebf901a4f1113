import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };

/** The `user-agent` header of all requests to REST. */
export const userAgent = `${packageJson.name}/${packageJson.version}`;

/** The proxies for REST. A URL may have credentials. */
export interface ProxyOptions {
  /** The proxy for an https REST service, by default `httpProxy`. */
  httpsProxy: URL | undefined;
  /** The proxy for an http REST service. */
  httpProxy: URL | undefined;
  /** The hosts without a proxy, separated by commas. */
  noProxy: string;
}

/** Limits of the connections to REST. Times are in milliseconds. Callers have a time limit for the response head. */
export interface DispatcherOptions {
  connections: number;
  /** The time limit for opening a connection. Default: 2,000, because REST is either nearby or unreachable. */
  connectTimeoutMs?: number | undefined;
  /** The time limit between two bytes of a body. Default: none. */
  bodyTimeoutMs?: number;
  /** Not used for an address of this machine. */
  proxy?: ProxyOptions | undefined;
}

// A connection to an unspecified address, such as 0.0.0.0, reaches this machine.
const thisMachine =
  /^(.*\.)?localhost\.?$|^127(\.\d+){3}$|^0\.0\.0\.0$|^\[::(1|ffff:7f[\da-f]{2}:[\da-f]{1,4})?\]$/;

/**
 * The connections to REST, through a proxy if one is set
 * (docs/design/how-trouble-at-rest-is-met.md#a-proxy-on-the-way). Requests name the origin of `baseUrl`. All connections
 * speak HTTP/1.1, which undici does not choose by default. On one connection of HTTP/2, a silent drop fails all calls and
 * a GOAWAY leaves the outcome of all writes unknown. With HTTP/1.1, a connection has one call at a time, and `connections`
 * bounds the calls.
 */
export function createDispatcher(baseUrl: URL, options: DispatcherOptions): Dispatcher {
  const { connections, connectTimeoutMs = 2_000, bodyTimeoutMs = 0, proxy } = options;
  const limits = { connections, headersTimeout: 0, bodyTimeout: bodyTimeoutMs, allowH2: false };
  if (proxy === undefined || thisMachine.test(baseUrl.hostname)) {
    return new Pool(baseUrl.origin, { ...limits, connect: { timeout: connectTimeoutMs } });
  }
  return new EnvHttpProxyAgent({
    ...limits,
    // An empty text, because undici would read the environment in place of undefined.
    httpsProxy: proxy.httpsProxy?.href ?? '',
    httpProxy: proxy.httpProxy?.href ?? '',
    noProxy: proxy.noProxy,
    connectTimeout: connectTimeoutMs,
    // The connection to an https proxy itself.
    proxyTls: { allowH2: false },
    // undici passes no limits to the connections on which a proxy forwards plain http.
    factory: (origin, given) => new Pool(origin, { ...limits, ...given }),
    // A tunnel counts as a connection: the proxy must open it within the same time.
    clientFactory: (origin, given) =>
      new Pool(origin, { ...given, headersTimeout: connectTimeoutMs, allowH2: false }),
  });
}

/** Why a request got no response: Node's error code, such as ECONNREFUSED. The error's message may have the address. */
export function failureCode(error: unknown): string {
  const status = proxyStatusOf(error);
  if (status !== undefined) return `the proxy returned ${status}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : 'unknown error';
}

/** Whether the proxy wants other credentials (407). REST then has got no part of the request. */
export function isRefusedByProxy(error: unknown): boolean {
  return proxyStatusOf(error) === '407';
}

/** The status with which the proxy itself responded. undici has it in the message alone, without a code of its own. */
function proxyStatusOf(error: unknown): string | undefined {
  return error instanceof Error ? /^Proxy .*\((\d{3})\)/.exec(error.message)?.[1] : undefined;
}

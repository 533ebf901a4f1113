import { anyText, type Setting, type ValuesOf } from './setting.ts';

/** The proxy for calls to REST. Other programs use the same variables, also in lower case. */
export const proxySettings = {
  httpsProxy: proxyUrl(
    'HTTPS_PROXY',
    'The proxy for calls to an https `UPSTREAM_URL`. The default is `HTTP_PROXY`. `https_proxy` comes first.',
  ),
  httpProxy: proxyUrl(
    'HTTP_PROXY',
    'The proxy for calls to an http `UPSTREAM_URL`. `http_proxy` comes first.',
  ),
  noProxy: {
    ...anyText(
      'NO_PROXY',
      undefined,
      'The hosts that are called without a proxy, such as `.example.com,10.0.0.7:8080`. `*` means every host. `no_proxy` comes first.',
    ),
    alias: 'no_proxy',
  },
};

/** Returns the proxy settings of the REST client; undefined if no proxy is set. */
export function proxyOf({ httpsProxy, httpProxy, noProxy = '' }: ValuesOf<typeof proxySettings>) {
  if (httpsProxy === undefined && httpProxy === undefined) return undefined;
  return Object.freeze({ httpsProxy, httpProxy, noProxy });
}

/** A setting whose value is the URL of a proxy. Without a scheme, http is meant. */
function proxyUrl(variable: string, meaning: string): Setting<URL, undefined> {
  return {
    variable,
    alias: variable.toLowerCase(),
    defaultValue: undefined,
    meaning,
    expected: 'an http or https URL without path or query; credentials are percent-encoded',
    parse: (text) => {
      const url = URL.parse(text.includes('://') ? text : `http://${text}`);
      const isUsable =
        url !== null &&
        /^https?:$/.test(url.protocol) &&
        url.pathname === '/' &&
        !/[?#]/.test(text) &&
        isDecodable(url.username + url.password);
      return isUsable ? url : undefined;
    },
  };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

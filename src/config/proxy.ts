import { type Setting, text } from './setting.ts';

/** Other programs use the same variables, also in lower case, which comes first. */
export const proxySettings = {
  httpsProxy: proxyUrl(
    'HTTPS_PROXY',
    'The proxy for calls to an https `UPSTREAM_URL`. The default is `HTTP_PROXY`. `https_proxy` comes first.',
  ),
  httpProxy: proxyUrl(
    'HTTP_PROXY',
    'The proxy for calls to an http `UPSTREAM_URL`. `http_proxy` comes first.',
  ),
  noProxy: text(
    'NO_PROXY',
    undefined,
    'The hosts that are called without a proxy, such as `.example.com,10.0.0.7:8080`. `*` means every host. `no_proxy` comes first.',
  ),
};

/** Without a scheme, http is meant. */
function proxyUrl(variable: string, meaning: string): Setting<URL, undefined> {
  const expected = 'an http or https URL without path or query; credentials are percent-encoded';
  const parse = (value: string) => {
    const url = URL.parse(value.includes('://') ? value : `http://${value}`);
    const isProxy = url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/';
    return isProxy && !/[?#]/.test(value) && isDecodable(url.username + url.password) ? url : undefined;
  };
  return { variable, defaultValue: undefined, meaning, expected, parse };
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

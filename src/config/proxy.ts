import { setting, text, type ValueType } from './setting.ts';

/** Without a scheme, http is meant. */
const proxyUrl: ValueType<URL> = {
  expected: 'an http or https URL without path or query, with any credentials percent-encoded',
  parse(value) {
    try {
      const url = new URL(value.includes('://') ? value : `http://${value}`);
      decodeURIComponent(url.username + url.password);
      const isProxy = /^https?:$/.test(url.protocol) && url.pathname === '/' && !/[?#]/.test(value);
      return isProxy ? url : undefined;
    } catch {
      return undefined;
    }
  },
};

/** Other programs use the same variables, also in lower case, which comes first. */
export const proxySettings = {
  httpsProxy: setting(
    'HTTPS_PROXY',
    undefined,
    proxyUrl,
    'The proxy for calls to an https `UPSTREAM_URL`. The default is `HTTP_PROXY`. The variable `https_proxy` overrides this setting.',
  ),
  httpProxy: setting(
    'HTTP_PROXY',
    undefined,
    proxyUrl,
    'The proxy for calls to an http `UPSTREAM_URL`. The variable `http_proxy` overrides this setting.',
  ),
  noProxy: setting(
    'NO_PROXY',
    undefined,
    text,
    'The hosts that are called without a proxy, such as `.example.com,10.0.0.7:8080`. `*` means every host. The variable `no_proxy` overrides this setting.',
  ),
};

import type { Asset } from './assets.ts';

/**
 * The page loads and runs only files of this server. The Monaco editor needs inline styles, and `data:` URLs for the
 * fonts and images in its style sheet.
 */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "font-src 'self' data:; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Renders the HTML page that starts GraphiQL. Its URLs are relative to `/graphql`, for proxies that add a path prefix.
 * @param tabs the query of each tab.
 * @param token the access token that the page begins with. Undefined: the user enters one.
 * @param liveHost the name of the live service that the page warns of. Undefined for the sandbox.
 */
export function renderPage(
  assets: ReadonlyMap<string, Asset>,
  tabs: readonly string[],
  token: string | undefined,
  liveHost: string | undefined,
): string {
  const url = (name: string) => assets.get(name)?.url ?? name;
  const options = {
    liveHost,
    tabs,
    token,
    workers: {
      editorWorkerService: url('editorWorker.js'),
      graphql: url('graphqlWorker.js'),
      json: url('jsonWorker.js'),
    },
  };
  // No text in it can end the script element.
  const json = JSON.stringify(options).replaceAll('<', '\\u003c');
  const warning = liveHost && `Live service: ${liveHost}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${warning ? `${warning} – ` : ''}Waybill</title>
    <link rel="icon" type="image/svg+xml" href="${url('icon.svg')}">
    <link rel="stylesheet" href="${url('style.css')}">
    <link rel="stylesheet" href="${url('amendments.css')}">
    <script id="options" type="application/json">${json}</script>
    <script defer src="${url('boot.js')}"></script>
    <script defer src="${url('app.js')}"></script>
  </head>
  <body id="body" class="no-focus-outline">
    ${warning ? `<p class="live-service-band">${warning}</p>` : ''}
    <noscript>GraphiQL needs JavaScript.</noscript>
    <div class="token-bar">
      <label for="token">Access token</label>
      <input id="token" placeholder="the merchant's token" aria-describedby="token-use"
        autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false">
      <small id="token-use">for all tabs, not stored</small>
    </div>
    <div id="root"></div>
  </body>
</html>
`;
}

// Runs before GraphiQL's own script, and starts GraphiQL in the browser with the `options` of the page.
const options = JSON.parse(document.getElementById('options').textContent);

// The only place of the access token, for all tabs. A browser does not restore this field after a reload.
const tokenField = document.getElementById('token');
tokenField.value = options.token ?? '';

self.MonacoEnvironment = {
  // GraphiQL has no options for its editors. The editor package then has the global name `monaco`.
  globalAPI: true,
  getWorkerUrl: (_moduleId, label) => new URL(options.workers[label], document.baseURI).href,
};

self.fetch = refuseOtherTokens(self.fetch);
if (options.liveHost !== undefined) self.fetch = askBeforeMutations(self.fetch, options.liveHost);
self.fetch = postSubscriptions(self.fetch);

// All scripts of the page have run then.
document.addEventListener('DOMContentLoaded', () => {
  const { editor: editors } = self.monaco;
  // Long lines stay in view in a narrow window.
  editors.onDidCreateEditor((editor) => editor.updateOptions({ wordWrap: 'on' }));
  // GraphiQL's own color of comments is too dark for its dark theme.
  const { defineTheme } = editors;
  editors.defineTheme = (name, theme) => {
    const rules = name === 'graphiql-DARK' ? [{ token: 'comment', foreground: '8fbf7a' }] : [];
    defineTheme(name, { ...theme, rules: [...theme.rules, ...rules] });
  };
  self.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
    title: 'Waybill',
    logo: `<img src="${document.querySelector('link[rel=icon]').href}" alt="" width="32" height="32">`,
    ...tabsToOpen(),
    additionalHeaders: () => (sentToken() === null ? {} : { authorization: sentToken() }),
    initialHeaders: '',
    // GraphiQL's own default: the pane of variables is open if there are some.
    defaultEditorToolsVisibility: undefined,
    // The headers of a tab may be secret, too.
    shouldPersistHeaders: false,
  });
});

/** The value of the header `authorization`, or null without a token. */
function sentToken() {
  const token = tokenField.value.trim().replace(/^Bearer\s+/i, '');
  return token === '' ? null : `Bearer ${token}`;
}

/**
 * GraphiQL opens the stored tab that has the `query` and the `variables`, and adds a tab if there is none. So these are
 * the texts of the tab that was open before a reload. Without stored tabs, GraphiQL opens the first of `defaultTabs`.
 */
function tabsToOpen() {
  // GraphiQL also writes the query of the open tab there.
  const inUrl = new URL(location.href).searchParams.get('query') || undefined;
  const stored = keepTabsWithText();
  const open =
    inUrl === undefined ? stored?.[0] : (stored?.find(({ query }) => query === inUrl) ?? { query: inUrl });
  const examples = options.tabs.map((query) => ({ query }));
  const defaultTabs =
    inUrl === undefined ? examples : [open, ...examples.filter(({ query }) => query !== inUrl)];
  return { defaultTabs, query: (open ?? examples[0]).query, variables: open?.variables ?? '' };
}

/** Removes the empty tabs that GraphiQL stored. Returns the others, the open one first, or undefined without any. */
function keepTabsWithText() {
  const key = 'graphiql:tabState';
  const { tabs, activeTabIndex } = parseState(localStorage.getItem(key));
  const kept = tabs.filter((tab) => tab?.query?.trim());
  if (kept.length === 0) {
    localStorage.removeItem(key);
    return undefined;
  }
  localStorage.setItem(key, JSON.stringify({ tabs: kept, activeTabIndex: 0 }));
  const open = tabs[activeTabIndex];
  return kept.includes(open) ? [open, ...kept] : kept;
}

/** The stored tabs. Another page of this origin may have stored a text that is none of GraphiQL's: no tabs, then. */
function parseState(text) {
  try {
    const state = JSON.parse(text);
    return Array.isArray(state?.tabs) ? state : { tabs: [] };
  } catch {
    return { tabs: [] };
  }
}

function refuseOtherTokens(fetch) {
  const message =
    'The headers pane names Authorization. Remove it there: the field "Access token" holds the token of all tabs.';
  return async (input, init) => {
    const isOperation = typeof init?.body === 'string';
    if (isOperation && new Headers(init.headers).get('authorization') !== sentToken()) {
      return Response.json({ errors: [{ message }] });
    }
    return fetch(input, init);
  };
}

function askBeforeMutations(fetch, host) {
  const question = `${host} is a live service. Send this mutation, which changes its data?`;
  return async (input, init) => {
    if (isMutation(init?.body) && !confirm(question)) {
      return Response.json({ errors: [{ message: 'The mutation was not sent.' }] });
    }
    return fetch(input, init);
  };
}

/** GraphiQL requests a stream by GET. This server opens streams by POST alone. */
function postSubscriptions(fetch) {
  return async (input, init) => {
    const url = new URL(input, document.baseURI);
    const query = url.searchParams.get('query');
    if (init?.method !== 'GET' || query === null) return fetch(input, init);
    const body = { query, operationName: url.searchParams.get('operationName') ?? undefined };
    const variables = url.searchParams.get('variables');
    if (variables) body.variables = JSON.parse(variables);
    const headers = new Headers(init.headers);
    headers.set('content-type', 'application/json');
    return fetch(url.pathname, { ...init, method: 'POST', headers, body: JSON.stringify(body) });
  };
}

/** Whether a body may have a mutation. A query with this word in a text or a comment is asked about, too. */
function isMutation(body) {
  return typeof body === 'string' && /\bmutation\b/.test(JSON.parse(body).query);
}

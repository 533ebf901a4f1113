// The last script of the page: starts GraphiQL in the browser with the `options` of the page.
const options = JSON.parse(document.getElementById('options').textContent);
const sharedQuery = new URL(location.href).searchParams.get('query');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_moduleId, label) => new URL(options.workers[label], document.baseURI).href,
};

if (options.liveHost !== undefined) self.fetch = askBeforeMutations(self.fetch, options.liveHost);

self.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: 'Waybill',
  logo: `<img src="${document.querySelector('link[rel=icon]').href}" alt="" width="32" height="32">`,
  headers: options.headers,
  // A query in the URL gets its own tab. Otherwise it would replace the first tab.
  defaultTabs: [...(sharedQuery === null ? [] : [sharedQuery]), ...options.tabs].map((query) => ({
    query,
    headers: options.headers,
  })),
  // An access token in the headers is not stored.
  shouldPersistHeaders: false,
});

function askBeforeMutations(fetch, host) {
  const question = `${host} is a live service. Send this mutation, which changes its data?`;
  return async (input, init) => {
    if (isMutation(init?.body) && !confirm(question)) {
      return Response.json({ errors: [{ message: 'The mutation was not sent.' }] });
    }
    return fetch(input, init);
  };
}

/** Whether a body may have a mutation. A query with this word in a text or a comment is asked about, too. */
function isMutation(body) {
  return typeof body === 'string' && /\bmutation\b/.test(JSON.parse(body).query);
}

// The last script of the page: starts GraphiQL in the browser with the `options` of the page.
const options = JSON.parse(document.getElementById('options').textContent);
const sharedQuery = new URL(location.href).searchParams.get('query');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_moduleId, label) => new URL(options.workers[label], document.baseURI).href,
};

// GraphiQL's drag library moves tabs to the end of the bar when the width of the bar changes, for example on loading.
// A tab then misses the click. So tabs cannot be dragged here: this listener hides presses from the library, and
// amendments.css prevents movements.
document.addEventListener(
  'pointerdown',
  (event) => {
    if (event.target.closest('.graphiql-tabs') !== null) event.stopPropagation();
  },
  { capture: true },
);

if (options.liveHost !== undefined) {
  showLiveService(options.liveHost);
  self.fetch = askBeforeMutations(self.fetch, options.liveHost);
}

self.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: 'Waybill',
  logo: `<img src="${document.querySelector('link[rel=icon]').href}" alt="" width="32" height="32">`,
  headers: options.headers,
  // A query in the URL gets its own tab. Otherwise it would replace the first tab.
  defaultTabs: [...(sharedQuery === null ? [] : [{ query: sharedQuery }]), ...options.tabs].map((tab) => ({
    ...tab,
    headers: options.headers,
  })),
  storage: storageUnder(`${options.edition}:`),
  // An access token in the headers is not stored.
  shouldPersistHeaders: false,
});

/** Marks the page, so that nobody takes a live service for the sandbox: amendments.css has the colours. */
function showLiveService(host) {
  const band = document.createElement('p');
  band.className = 'live-service-band';
  band.textContent = `Live service: ${host}`;
  document.body.prepend(band);
  document.body.classList.add('live-service');
  document.title = `Live service: ${host} – ${document.title}`;
}

/** Wraps `fetch`, so that it asks before a mutation is sent. Once the person has agreed, it asks no more. */
function askBeforeMutations(fetch, host) {
  const question = `${host} is a live service. Send mutations, which change its data, until this page is closed?`;
  let maySendMutations = false;
  return async (input, init) => {
    if (isMutation(init?.body)) {
      maySendMutations ||= confirm(question);
      if (!maySendMutations) return Response.json({ errors: [{ message: 'The mutation was not sent.' }] });
    }
    return fetch(input, init);
  };
}

/** Whether a body has a mutation. GraphiQL prints the one operation that it sends in canonical form. */
function isMutation(body) {
  return typeof body === 'string' && /^mutation\b/m.test(JSON.parse(body).query);
}

/** The browser's storage for edited tabs. The prefix changes with the initial tabs, so new initial tabs appear. */
function storageUnder(prefix) {
  const ownKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  return {
    getItem: (key) => localStorage.getItem(prefix + key),
    setItem: (key, value) => localStorage.setItem(prefix + key, value),
    removeItem: (key) => localStorage.removeItem(prefix + key),
    clear: () => {
      for (const key of ownKeys()) localStorage.removeItem(key);
    },
    get length() {
      return ownKeys().length;
    },
  };
}

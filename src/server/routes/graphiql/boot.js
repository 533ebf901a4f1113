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

// A block string, a string or a comment of GraphQL.
const textOrComment = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\])*"|#.*/g;

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

/** Wraps `fetch`, so that it asks before each mutation. */
function askBeforeMutations(fetch, host) {
  const question = `${host} is a live service. Send this mutation, which changes its data?`;
  return async (input, init) => {
    if (isMutation(init?.body) && !confirm(question)) {
      return Response.json({ errors: [{ message: 'The mutation was not sent.' }] });
    }
    return fetch(input, init);
  };
}

/** Whether a body has a mutation. GraphiQL sends one operation and its fragments, in any order and without line breaks. */
function isMutation(body) {
  if (typeof body !== 'string') return false;
  const withoutTexts = String(JSON.parse(body).query).replace(textOrComment, '');
  const withoutArguments = replaceNested(withoutTexts, /\([^()]*\)/g, '');
  const definitions = replaceNested(withoutArguments, /\{[^{}]*\}/g, ';').split(';');
  return definitions.some((definition) => /^[\s,]*mutation\b/.test(definition));
}

/** Replaces the innermost brackets until none are left. */
function replaceNested(text, brackets, replacement) {
  const replaced = text.replace(brackets, replacement);
  return replaced === text ? text : replaceNested(replaced, brackets, replacement);
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

// Runs in the browser, as the page's last script: starts GraphiQL with what the page's `options` say.
const options = JSON.parse(document.getElementById('options').textContent);
const sharedQuery = new URL(location.href).searchParams.get('query');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_moduleId, label) => new URL(options.workers[label], document.baseURI).href,
};

// GraphiQL lets tabs be dragged, by a library that puts them to the far end of their bar when its width changes, as it
// does on loading. A tab then leaves the pointer, and misses the click. Here tabs stay where they are: no press gets to
// that library, and graphiql-amendments.css keeps it from moving them.
document.addEventListener(
  'pointerdown',
  (event) => {
    if (event.target.closest('.graphiql-tabs') !== null) event.stopPropagation();
  },
  { capture: true },
);

self.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: 'Waybill',
  logo: `<img src="${document.querySelector('link[rel=icon]').href}" alt="" width="32" height="32">`,
  headers: options.headers,
  // A query that came with the address gets a tab of its own, or it would take the first one's place.
  defaultTabs: [...(sharedQuery === null ? [] : [{ query: sharedQuery }]), ...options.tabs].map((tab) => ({
    ...tab,
    headers: options.headers,
  })),
  storage: storageUnder(`${options.edition}:`),
  // An access token in the headers is gone with the page.
  shouldPersistHeaders: false,
});

/** The browser's storage, in which edited tabs last. Other tabs to start with have other keys, and so are seen. */
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

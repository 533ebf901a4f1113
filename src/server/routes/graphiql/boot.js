// The last script of the page: starts GraphiQL in the browser with the `options` of the page.
const options = JSON.parse(document.getElementById('options').textContent);
const sharedQuery = new URL(location.href).searchParams.get('query');

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_moduleId, label) => new URL(options.workers[label], document.baseURI).href,
};

// GraphiQL's drag library moves tabs to the end of the bar when the width of the bar changes, for example on loading.
// A tab then misses the click. So this listener hides presses from the library, and amendments.css prevents movements.
document.addEventListener(
  'pointerdown',
  (event) => {
    if (event.target.closest('.graphiql-tabs') !== null) event.stopPropagation();
  },
  { capture: true },
);

if (options.liveHost !== undefined) self.fetch = askBeforeMutations(self.fetch, options.liveHost);

// New initial tabs take the place of those that the browser has stored.
if (localStorage.getItem('waybill:edition') !== options.edition) {
  localStorage.removeItem('graphiql:tabState');
  localStorage.setItem('waybill:edition', options.edition);
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

/** Whether a body has a mutation. GraphiQL sends one operation and its fragments, in any order and without line breaks. */
function isMutation(body) {
  if (typeof body !== 'string') return false;
  const textOrComment = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\])*"|#.*/g;
  let document = String(JSON.parse(body).query).replace(textOrComment, '');
  const innermostBrackets = /\([^(){}]*\)|\{[^(){}]*\}/;
  while (innermostBrackets.test(document)) document = document.replace(innermostBrackets, ';');
  return document.split(';').some((definition) => /^[\s,]*mutation\b/.test(definition));
}

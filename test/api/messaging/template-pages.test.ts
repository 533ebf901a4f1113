import { expect, test } from 'vitest';
import { startApp } from '../../fixtures/start-app.ts';

const templates = [
  ['welcome', 'es'],
  ['welcome', 'en'],
  ['bye', 'en'],
  ['welcome', 'pt'],
].map(([name, language]) => ({ name, language, category: 'UTILITY', buttons: [], footer: '' }));

const list = 'GET /v1/channels/1/templates';

/** Starts the application before a service with these templates, which gives each page a new token. */
function start() {
  let responses = 0;
  return startApp(
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://rest.test');
      responses += 1;
      response.setHeader('content-type', 'application/json');
      if (pathname === '/v1/channels')
        return void response.end(JSON.stringify({ channels: [{ name: 'channels/1' }], nextPageToken: '' }));
      const from = Number(searchParams.get('pageToken')?.split('-')[0] ?? 0);
      const end = from + Number(searchParams.get('pageSize'));
      const nextPageToken = end < templates.length ? `${end}-${responses}` : '';
      response.end(JSON.stringify({ templates: templates.slice(from, end), nextPageToken }));
    },
    { REFERENCE_DATA_MS: '0' },
  );
}

interface Page {
  edges: { cursor: string; node: { name: string; language: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

test.each([1, 2, 3])('templates of one name in several languages are read %i at a time', async (first) => {
  await using app = await start();
  const read = async (after?: string) => {
    const { data, errors } = await app.ask(`{ channel(id: "1") {
      templates(first: ${first}${after === undefined ? '' : `, after: "${after}"`}) {
        edges { cursor node { name language } } pageInfo { hasNextPage endCursor }
      } } }`);
    expect(errors).toBeUndefined();
    // The cast is safe: the query has this form.
    return (data as { channel: { templates: Page } }).channel.templates;
  };
  const pages = [await read()];
  for (let page = pages[0]; page?.pageInfo.hasNextPage && pages.length < 5; page = pages.at(-1))
    pages.push(await read(page.pageInfo.endCursor));
  const rows = templates.map(({ name, language }) => ({ name, language }));
  expect(pages.flatMap(({ edges }) => edges.map(({ node }) => node))).toEqual(rows);
  const calls = app.calls().filter((call) => call.startsWith(list));
  expect(calls.map((call) => call.replace(/-\d+$/, ''))).toEqual(
    Array.from(pages, (_page, index) =>
      index === 0 ? `${list}?pageSize=${first}` : `${list}?pageSize=${first}&pageToken=${index * first}`,
    ),
  );
  const [{ cursor } = { cursor: '' }] = pages[0]?.edges ?? [];
  const behind = await read(cursor);
  expect(behind.edges.map(({ node }) => node)).toEqual(rows.slice(1, 1 + first));
});

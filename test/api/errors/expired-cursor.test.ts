import { describe, expect, test } from 'vitest';
import { startApp } from '../../fixtures/start-app.ts';

const channel = 'channels/0';
const conversation = `${channel}/conversations/0`;

/** The connection of each list, with its arguments, and the rows of its path. */
const lists: [list: string, path: string, connection: (args: string) => string][] = [
  ['orders', 'orders', (args) => `{ list: orders(${args}) PAGE }`],
  ['shipments', 'shipments', (args) => `{ list: shipments(${args}) PAGE }`],
  ['origins', 'origins', (args) => `{ list: origins(${args}) PAGE }`],
  ['locations', 'locations', (args) => `{ list: locations(${args}) PAGE }`],
  ['channels', 'channels', (args) => `{ list: channels(${args}) PAGE }`],
  [
    'templates',
    `${channel}/templates`,
    (args) => `{ parent: channel(id: "0") { list: templates(${args}) PAGE } }`,
  ],
  [
    'messages',
    `${conversation}/messages`,
    (args) => `{ parent: conversation(id: "${conversation}") { list: messages(${args}) PAGE } }`,
  ],
  [
    'orders with a filter of Waybill',
    'orders',
    (args) => `{ list: orders(createdSince: "2026-01-01T00:00:00Z", ${args}) PAGE }`,
  ],
];

/** Starts the application before a service that refuses each page token with `status`, or with 0 accepts it. */
const start = (path: string, status: number, message = 'page token has expired') =>
  startApp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://rest.test');
    response.setHeader('content-type', 'application/json');
    if (searchParams.has('pageToken') && status !== 0)
      return void response.writeHead(status).end(JSON.stringify({ message }));
    const asked = pathname.slice('/v1/'.length);
    const name = (number: number) =>
      asked.endsWith('templates') ? `template_${number}` : `${asked}/${number}`;
    const rows = [0, 1].map((number) => ({ name: name(number), createTime: '2026-02-01T00:00:00Z' }));
    // The channel of the templates is found by a read of its whole list.
    const nextPageToken = asked === path && !searchParams.has('pageToken') ? 'page-2' : '';
    response.end(JSON.stringify({ [asked.split('/').at(-1) ?? '']: rows, nextPageToken }));
  });

const page = '{ edges { cursor } pageInfo { endCursor } }';

interface Listed {
  list: { pageInfo: { endCursor: string } } | null;
}

describe.each(lists)('an expired cursor of %s', (_list, path, connection) => {
  const query = (args: string) => connection(args).replace('PAGE', page);

  async function cursor(): Promise<string> {
    await using app = await start(path, 0);
    const { data } = await app.ask(query('first: 2'));
    // The cast is safe: the query has this form.
    const { parent, list } = data as Listed & { parent?: Listed };
    return (parent?.list ?? list)?.pageInfo.endCursor ?? '';
  }

  test.each([400, 404, 409, 410, 412, 416, 422])(
    'is INVALID_CURSOR if the first call of a new server gets %i',
    async (status) => {
      const after = await cursor();
      await using app = await start(path, status);
      const { errors } = await app.ask(query(`first: 2, after: "${after}"`));
      expect(errors).toMatchObject([
        {
          code: 'INVALID_CURSOR',
          message: expect.stringMatching(
            / returned \d+: The cursor is no longer valid\. Start again without "after"\. The REST service says: page token has expired$/,
          ),
          retryable: false,
          upstreamStatus: status,
        },
      ]);
      expect(app.calls().filter((call) => call.includes('pageToken=page-2'))).toHaveLength(1);
      expect(app.calls()).toHaveLength(path.endsWith('templates') ? 2 : 1);
    },
  );

  test('does not hide a wrong PAGE_SIZE_PARAMETER', async () => {
    const after = await cursor();
    await using app = await start(path, 400, 'unknown parameter pageSize');
    const { errors } = await app.ask(query(`first: 2, after: "${after}"`));
    expect(errors).toMatchObject([
      { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('PAGE_SIZE_PARAMETER') },
    ]);
  });

  test('does not hide a wrong PAGE_TOKEN_PARAMETER', async () => {
    await using app = await start(path, 400, 'unknown parameter pageToken');
    const { data } = await app.ask(query('first: 2'));
    const { parent, list } = data as Listed & { parent?: Listed };
    const after = (parent?.list ?? list)?.pageInfo.endCursor;
    const { errors } = await app.ask(query(`first: 2, after: "${after}"`));
    expect(errors).toMatchObject([
      { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('PAGE_TOKEN_PARAMETER') },
    ]);
  });
});

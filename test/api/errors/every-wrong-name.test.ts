import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// Each name of a list parameter that REST does not know, for each list.

const rowCount = 2_500;
const defaultPageRows = 100;

const rights = {
  PAGE_SIZE_PARAMETER: 'limit',
  PAGE_TOKEN_PARAMETER: 'cursor',
  STATUS_PARAMETER: 'state',
  SEARCH_PARAMETER: 'text',
  QUERY_PARAMETER: 'contains',
};
type Setting = keyof typeof rights;

/** What the service does with an unknown parameter, and whether it is strict. */
const reactions = [
  ['ignores', false],
  ['rejects', true],
] as const;

/** A service that knows the right names alone, and ignores or refuses all other parameters. */
async function start(wrong: Setting, isStrict: boolean) {
  const { log, lines } = recordedLog('warn');
  const waybill = await startApp(
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://rest.test');
      const known: string[] = Object.values(rights);
      const unknown = [...searchParams.keys()].find((name) => !known.includes(name));
      response.setHeader('content-type', 'application/json');
      if (isStrict && unknown !== undefined) {
        response.writeHead(400).end(JSON.stringify({ message: `"${unknown}" is not allowed` }));
        return;
      }
      const path = pathname.slice('/v1/'.length);
      const list = path.split('/').at(-1) ?? '';
      const from = Number(searchParams.get('cursor') ?? 0);
      const size = Number(searchParams.get('limit') ?? defaultPageRows);
      const state = searchParams.get('state')?.split(',');
      const text = searchParams.get('text') ?? searchParams.get('contains') ?? '';
      const matches = rowsOf(path).filter(
        (row) => (state === undefined || state.includes(row.status)) && row.text.includes(text),
      );
      const end = Math.min(from + size, matches.length);
      const nextPageToken = end < matches.length ? String(end) : '';
      response.end(JSON.stringify({ [list]: matches.slice(from, end), nextPageToken }));
    },
    { ...rights, [wrong]: 'wrong' },
    { log },
  );
  return Object.assign(waybill, {
    /** The settings that lines of the log name, and their lists. */
    problems: () =>
      lines().flatMap(({ setting, list }) => (setting === undefined ? [] : [{ setting, list }])),
  });
}

function rowsOf(path: string) {
  // Each of the channels is found by a read of the whole list.
  return Array.from({ length: path === 'channels' ? 60 : rowCount }, (_, index) => ({
    name: `${path}/${index}`,
    status: 'DELIVERED',
    text: 'Café +57300',
    recipient: { phoneNumber: '+57300', firstName: 'Pedro' },
  }));
}

/** The connection of each list, with its arguments. */
const connections: Record<string, (args: string) => string> = {
  orders: (args) => `{ list: orders(${args}) { ...page } } `,
  shipments: (args) => `{ list: shipments(${args}) { ...page } }`,
  origins: (args) => `{ list: origins(${args}) { ...page } }`,
  locations: (args) => `{ list: locations(${args}) { ...page } }`,
  channels: (args) => `{ list: channels(${args}) { ...page } }`,
  templates: (args) => `{ channel(id: "0") { list: templates(${args}) { ...page } } }`,
  messages: (args) =>
    `{ conversation(id: "channels/0/conversations/0") { list: messages(${args}) { ...page } } }`,
};

interface Page {
  nodes: ({ id: string } | { name: string })[];
  pageInfo: { endCursor: string };
}

type App = Awaited<ReturnType<typeof start>>;

/** The page of a list, and the message of the only error. */
async function read(app: App, list: string, args: string) {
  const type = `${list[0]?.toUpperCase()}${list.slice(1, -1)}Connection`;
  const node = list === 'templates' ? 'name' : 'id';
  const { data, errors } = await app.ask(
    `${connections[list]?.(args)} fragment page on ${type} { nodes { ${node} } pageInfo { endCursor } }`,
  );
  const [error, ...others] = errors ?? [];
  expect(others).toEqual([]);
  expect([undefined, 'UPSTREAM_INVALID_RESPONSE']).toContain(error?.code);
  return { page: pageIn(data), message: error?.message };
}

/** The page in the data: `list` is at the root, or in a channel or conversation. */
function pageIn(data: unknown): Page | null {
  const root = data as {
    list?: Page | null;
    channel?: Pick<typeof root, 'list'>;
    conversation?: typeof root;
  };
  return root.list ?? root.channel?.list ?? root.conversation?.list ?? null;
}

describe.each(Object.keys(connections))('the list of %s', (list) => {
  test('is correct if the REST service ignores the page size parameter', async () => {
    await using app = await start('PAGE_SIZE_PARAMETER', false);
    const { page, message } = await read(app, list, 'first: 5');
    expect([page?.nodes.length, message]).toEqual([5, undefined]);
    const second = await read(app, list, `first: 5, after: "${page?.pageInfo.endCursor}"`);
    expect(second.page?.nodes).toHaveLength(5);
    expect(second.page?.nodes).not.toContainEqual(page?.nodes[4]);
    expect(app.problems()).toContainEqual({ setting: 'PAGE_SIZE_PARAMETER', list });
  });

  test('fails if the REST service rejects the page size parameter', async () => {
    await using app = await start('PAGE_SIZE_PARAMETER', true);
    const { page, message } = await read(app, list, 'first: 5');
    expect([page, message]).toEqual([null, expect.stringContaining('PAGE_SIZE_PARAMETER')]);
    // The channel of the templates is read first.
    const refused = list === 'templates' ? 'channels' : list;
    expect(app.problems()).toEqual([{ setting: 'PAGE_SIZE_PARAMETER', list: refused }]);
  });

  test.each(reactions)(
    'reports a wrong PAGE_TOKEN_PARAMETER as an error if the REST service %s it',
    async (_reaction, isStrict) => {
      await using app = await start('PAGE_TOKEN_PARAMETER', isStrict);
      const { page } = await read(app, list, 'first: 5');
      const { length } = app.calls();
      const second = await read(app, list, `first: 5, after: "${page?.pageInfo.endCursor}"`);
      expect([second.page, second.message]).toEqual([null, expect.stringContaining('PAGE_TOKEN_PARAMETER')]);
      // The page, and on suspicion the first one again.
      expect(app.calls().length - length).toBe(isStrict ? 1 : 2);
      expect(app.problems()).toEqual([{ setting: 'PAGE_TOKEN_PARAMETER', list }]);
    },
  );
});

describe.each([
  ['orders', 'orders(first: 5, status: [NEW, READY])'],
  [
    'orders of a recipient',
    'orders(first: 1) { nodes { recipient { orders(first: 5, status: [NEW]) ids } } }',
  ],
])('the status filter of %s', (_list, field) => {
  test.each(reactions)(
    'reports a wrong STATUS_PARAMETER as an error if the REST service %s it',
    async (_reaction, isStrict) => {
      await using app = await start('STATUS_PARAMETER', isStrict);
      const query = `{ ${field.includes('ids') ? field.replace('ids', '{ nodes { id } }') : `${field} { nodes { id } }`} }`;
      const { data, errors } = await app.ask(query);
      expect(JSON.stringify(data)).not.toContain('orders/');
      expect(errors).toMatchObject([
        { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('STATUS_PARAMETER') },
      ]);
      expect(app.problems()).toEqual([{ setting: 'STATUS_PARAMETER', list: 'orders' }]);
    },
  );
});

test.each(reactions)(
  'origin(id:) reports a wrong PAGE_TOKEN_PARAMETER if the REST service %s it',
  async (_reaction, isStrict) => {
    await using app = await start('PAGE_TOKEN_PARAMETER', isStrict);
    const { data, errors } = await app.ask('{ origin(id: "2400") { id } }');
    expect(data).toEqual({ origin: null });
    expect(errors).toMatchObject([
      { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('PAGE_TOKEN_PARAMETER') },
    ]);
    // The first page, and the page with the parameter. On suspicion, the first page again.
    expect(app.calls()).toHaveLength(isStrict ? 2 : 3);
  },
);

test('a row whose status was not requested is skipped and counted', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  const orders = ['NEW', 'READY', 'NEW'].map((status, index) => ({ name: `orders/${index}`, status }));
  await using app = await startApp(answerJson({ orders }), {}, { telemetry });
  const { data } = await app.ask('{ orders(first: 5, status: [NEW]) { nodes { id } } }');
  expect(data).toEqual({ orders: { nodes: [{ id: 'orders/0' }, { id: 'orders/2' }] } });
  const page = await telemetry.metrics?.page();
  expect(page?.body).toContain('waybill_rest_rows_outside_total{list="orders"} 1\n');
});

describe.each<[Setting, string, string]>([
  ['SEARCH_PARAMETER', 'orders', 'first: 5, search: "Lucía"'],
  ['QUERY_PARAMETER', 'locations', 'first: 5, search: "Bogotá"'],
])('a wrong %s', (setting, list, args) => {
  test('is logged if the REST service ignores the parameter', async () => {
    await using app = await start(setting, false);
    const { page, message } = await read(app, list, args);
    expect([page?.nodes.length, message]).toEqual([5, undefined]);
    expect(app.problems()).toEqual([{ setting, list }]);
  });

  test('causes an error if the REST service rejects the parameter', async () => {
    await using app = await start(setting, true);
    const { page, message } = await read(app, list, args);
    expect([page, message]).toEqual([null, expect.stringContaining(setting)]);
    expect(app.problems()).toEqual([{ setting, list }]);
  });
});

describe.each(['order', 'shipment'])('counts and filters of %ss', (record) => {
  const counts = `{ ${record}Counts { total } }`;
  const filter = 'createdSince: "2026-01-01T00:00:00Z"';
  const filtered = `{ ${record}s(first: 5, ${filter}) { nodes { id } } }`;

  test.each(reactions)(
    'report a wrong PAGE_TOKEN_PARAMETER as an error if the REST service %s it',
    async (_reaction, isStrict) => {
      for (const query of [counts, filtered]) {
        await using app = await start('PAGE_TOKEN_PARAMETER', isStrict);
        const { data, errors } = await app.ask(query);
        expect(Object.values(data ?? {})).toEqual([null]);
        expect(errors).toMatchObject([
          { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('PAGE_TOKEN_PARAMETER') },
        ]);
      }
    },
  );

  test('cover only 20 pages of the default size if the page size parameter is ignored', async () => {
    await using app = await start('PAGE_SIZE_PARAMETER', false);
    // 20 pages of 100 rows.
    expect((await app.ask(counts)).data).toEqual({ [`${record}Counts`]: { total: 2_000 } });
    expect(app.problems()).toEqual([{ setting: 'PAGE_SIZE_PARAMETER', list: `${record}s` }]);
  });

  test('fail if the REST service rejects the page size parameter', async () => {
    await using app = await start('PAGE_SIZE_PARAMETER', true);
    for (const query of [counts, filtered]) {
      expect((await app.ask(query)).errors).toMatchObject([
        { code: 'UPSTREAM_INVALID_RESPONSE', message: expect.stringContaining('PAGE_SIZE_PARAMETER') },
      ]);
    }
  });
});

test('correct parameter names cause no error and no log entry', async () => {
  await using app = await start('STATUS_PARAMETER', true);
  for (const list of Object.keys(connections)) {
    const { page } = await read(app, list, 'first: 1');
    const { message } = await read(app, list, `first: 7, after: "${page?.pageInfo.endCursor}"`);
    expect(message).toBeUndefined();
  }
  expect((await app.ask('{ shipmentCounts { total } orderCounts { total } }')).data).toEqual({
    shipmentCounts: { total: rowCount },
    orderCounts: { total: rowCount },
  });
  expect(app.problems()).toEqual([]);
});

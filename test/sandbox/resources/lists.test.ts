import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf, newOrder, openSandbox } from '../client.ts';

const client = await openSandbox();
afterAll(() => client.close());

type Named = { name: string };
const namesIn = (rows: Named[]) => rows.map(({ name }) => name);

/** An identifier of each collection, for the paths of the lists below a record. */
const identifiers: Record<string, string> = {
  orders: 'ca2481',
  quotes: 'ca2139',
  shipments: 'ca2036',
  origins: 'ca1',
  locations: 'antioquia-medellin',
  couriers: 'rutandina',
  channels: 'ca1',
  conversations: 'ca5',
};

interface ListOfSandbox {
  path: string;
  /** The field of its rows. */
  field: string;
  /** Its default page size. */
  usual: number;
  /** Its greatest page size. */
  most: number;
}

/** Every list of the sandbox: each GET whose response has a `nextPageToken`. */
async function findLists(): Promise<ListOfSandbox[]> {
  const { body } = await client.get('/openapi.json');
  return Object.keys(body.paths).flatMap((path) => {
    const { parameters, responses } = body.paths[path].get ?? {};
    const { properties = {} } = responses?.[200]?.content['application/json']?.schema ?? {};
    if (!('nextPageToken' in properties)) return [];
    const [field = ''] = Object.keys(properties).filter((name) => name !== 'nextPageToken');
    const { schema } = parameters.find(({ name }: { name: string }) => name === 'pageSize');
    const filled = path.replace(/(\w+)\/\{\w+\}/g, (_match, collection: string) => {
      const identifier = identifiers[collection];
      if (identifier === undefined)
        throw new Error(`Add one of ${collection} to the identifiers of this test`);
      return `${collection}/${identifier}`;
    });
    return [{ path: filled, field, usual: schema.default, most: schema.maximum }];
  });
}

const lists = await findLists();

test('each list has the expected default and maximum page size', () => {
  const sizes = lists.map(({ path, field, usual, most }) => [path, field, usual, most]);
  expect(sizes).toEqual(
    expect.arrayContaining([
      ['/v1/orders', 'orders', 100, 1000],
      ['/v1/shipments', 'shipments', 100, 1000],
      ['/v1/origins', 'origins', 100, 1000],
      ['/v1/locations', 'locations', 100, 1000],
      ['/v1/channels', 'channels', 50, 100],
      ['/v1/channels/ca1/templates', 'templates', 50, 100],
      ['/v1/channels/ca1/conversations/ca5/messages', 'messages', 20, 100],
    ]),
  );
});

describe.each(lists)('GET $path', ({ path, field, usual, most }) => {
  test('accepts only page sizes from 1 to the maximum', async () => {
    const everything = await client.get(`${path}?pageSize=${most}`);
    expect(everything.status).toBe(200);
    const count = everything.body[field].length;
    expect((await client.get(path)).body[field]).toHaveLength(Math.min(count, usual));
    for (const wrong of ['0', '-1', `${most + 1}`, '1.5', 'ten', '', '2147483648', '99999999999999999999']) {
      const reply = await client.get(`${path}?pageSize=${wrong}`);
      expect([reply.status, faultsOf(reply)[0]?.split(' ')[0]]).toEqual([400, 'pageSize']);
    }
  });

  test('rejects unknown and repeated parameters', async () => {
    expect(faultsOf(await client.get(`${path}?page_size=1&limit=2`))).toEqual([
      'page_size is not a known field',
      'limit is not a known field',
    ]);
    expect(faultsOf(await client.get(`${path}?pageToken=a&pageToken=b`))).toEqual([
      'pageToken must be a text',
    ]);
  });

  test('returns an empty nextPageToken on the last page', async () => {
    const whole = (await client.get(`${path}?pageSize=${most}`)).body[field].slice(0, 7);
    expect(whole.length, 'the record of this path needs two rows at least').toBeGreaterThan(1);
    const rows: unknown[] = [];
    let pageToken = '';
    do {
      const { body } = await client.get(`${path}?pageSize=1${pageToken && `&pageToken=${pageToken}`}`);
      expect(body[field], 'the route has to page: see src/sandbox/resources/places.ts').toHaveLength(1);
      rows.push(...body[field]);
      pageToken = body.nextPageToken;
    } while (pageToken !== '' && rows.length < 7);
    expect(rows).toEqual(whole);
  });

  test('rejects a page token that it did not issue', async () => {
    for (const token of ['', 'x', 'AAAA', `${'A'.repeat(32)}`, '%F0%9F%8E%81', 'a'.repeat(8000)]) {
      const reply = await client.get(`${path}?pageToken=${token}`);
      expect([reply.status, faultsOf(reply)]).toEqual([
        400,
        ['pageToken was not issued for this list, these filters and this merchant'],
      ]);
    }
  });
});

test('a page token is valid only for its merchant, list and filters', async () => {
  const tokenOf = async (path: string) => (await client.get(path)).body.nextPageToken;
  const orders = await tokenOf('/v1/orders?pageSize=3');
  const ready = await tokenOf('/v1/orders?pageSize=3&status=DELIVERED,CANCELLED');
  const locations = await tokenOf('/v1/locations?pageSize=3');
  const status = async (path: string, token?: string) => (await client.get(path, token)).status;
  expect(await status(`/v1/orders?pageSize=9&pageToken=${orders}`)).toBe(200);
  expect(await status(`/v1/orders?status=CANCELLED,DELIVERED&pageToken=${ready}`)).toBe(200);
  expect(await status(`/v1/orders?status=DELIVERED&pageToken=${ready}`)).toBe(400);
  expect(await status(`/v1/orders?pageToken=${ready}`)).toBe(400);
  expect(await status(`/v1/shipments?pageToken=${orders}`)).toBe(400);
  expect(await status(`/v1/orders?pageToken=${orders}`, client.sandbox.tokens.second)).toBe(400);
  expect(await status(`/v1/locations?pageToken=${locations}`, client.sandbox.tokens.second)).toBe(400);
  expect(await status(`/v1/orders?pageToken=${orders.toUpperCase()}`)).toBe(400);
});

test('a new order between two page requests causes no duplicates or gaps', async () => {
  const before = namesIn((await client.get('/v1/orders?pageSize=6')).body.orders);
  const first = (await client.get('/v1/orders?pageSize=3')).body;
  await client.post('/v1/orders', newOrder);
  const second = (await client.get(`/v1/orders?pageSize=3&pageToken=${first.nextPageToken}`)).body;
  expect(namesIn([...first.orders, ...second.orders])).toEqual(before);
});

test('the status filter accepts several statuses', async () => {
  const { body } = await client.get('/v1/orders?pageSize=1000&status=RETURN,CANCELLED');
  const statuses = body.orders.map((order: { status: string }) => order.status);
  expect(new Set(statuses)).toEqual(new Set(['RETURN', 'CANCELLED']));
  expect(faultsOf(await client.get('/v1/orders?status=NEW,new,'))).toEqual([
    'status must contain only NEW, CONFIRMED, READY, IN_PROGRESS, CANCELLED, DELIVERED, RETURN, but contains "new", ""',
  ]);
});

describe('the search of orders', () => {
  const people = [
    ['Wenceslao', 'González', '+573009990010', 'shop-900'],
    ['Wenceslao', 'Güiza Peña', '+573009990011', 'shop-901'],
    ['Xiomara', 'González', '+573009990012', 'shop-902'],
  ] as const;
  const created: string[] = [];
  beforeAll(async () => {
    for (const [firstName, lastName, phoneNumber, referenceId] of people) {
      const recipient = { ...newOrder.recipient, firstName, lastName, phoneNumber };
      created.push((await client.post('/v1/orders', { ...newOrder, recipient, referenceId })).body.name);
    }
  });

  test.each([
    ['Gonzales', [2, 0]],
    ['gonzalez', [2, 0]],
    ['GONZÁLEZ', [2, 0]],
    ['Gonz', [2, 0]],
    ['Wenceslao Gonzales', [0]],
    ['gonzalez wenseslao', [0]],
    ['guiza pena', [1]],
    ['Xoimara', [2]],
    ['+573009990011', [1]],
    ['+57 300 999 0011', [1]],
    ['573009990011', [1]],
    ['57300999001', []],
    ['shop-902', [2]],
    ['shop-90', []],
    ['"', []],
    ['* OR NEAR', []],
    ['Wenceslao Zzyzx', []],
  ])('returns the matching orders for %s', async (search, expected) => {
    const { status, body } = await client.get(
      `/v1/orders?pageSize=1000&search=${encodeURIComponent(search)}`,
    );
    expect(status).toBe(200);
    // The seed may hold names alike; what is asserted is which of these three are found, newest first.
    expect(namesIn(body.orders).filter((name) => created.includes(name))).toEqual(
      expected.map((index) => created[index]),
    );
  });

  test('can be combined with the status filter and page tokens', async () => {
    const path = '/v1/orders?pageSize=1&search=gonzales&status=NEW';
    const first = (await client.get(path)).body;
    const second = (await client.get(`${path}&pageToken=${first.nextPageToken}`)).body;
    expect(namesIn([...first.orders, ...second.orders])).toEqual([created[2], created[0]]);
    expect(
      (await client.get('/v1/orders?search=gonzales&status=CANCELLED&pageSize=1000')).body.orders,
    ).not.toContain(created[0]);
  });
});

test.each([
  ['Medellín', true],
  ['MEDELLIN', true],
  ['dell', true],
  ['locations/antioquia-medellin', true],
  ['antioquia', true],
  ['Medellin, Antioquia', true],
  ['Cundinamarca', false],
  ['%', false],
  ['_', false],
])('the search of locations for %s finds Medellín: %s', async (query, isFound) => {
  const { body } = await client.get(`/v1/locations?pageSize=1000&query=${encodeURIComponent(query)}`);
  expect(namesIn(body.locations).includes('locations/antioquia-medellin')).toBe(isFound);
});

test('both merchants have the same locations', async () => {
  const { body } = await client.get('/v1/locations?query=pitalito');
  expect(body.locations[0]).toEqual({
    name: 'locations/huila-pitalito',
    address: { regionCode: 'CO', administrativeArea: 'Huila', locality: 'Pitalito' },
  });
  const other = await client.get('/v1/locations?query=pitalito', client.sandbox.tokens.second);
  expect(other.body).toEqual(body);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  OrderEdgesDocument,
  OrderNamesDocument,
  type OrderNamesQuery,
  type OrderNamesQueryVariables,
  ShipmentNamesDocument,
  type ShipmentNamesQuery,
} from '../../documents.generated.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** `orders/ca2500`, `orders/ca2499` … of the seed: so many, from the newest or after so many others. */
function seeded(collection: string, newest: number, count: number, skipped = 0): string[] {
  const identifier = (index: number) => String(newest - skipped - index).padStart(4, '0');
  return Array.from({ length: count }, (_, index) => `${collection}/ca${identifier(index)}`);
}

const encoded = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
const names = (nodes: readonly ({ id: string } | null)[]) => nodes.map((node) => node?.id);
const token = '[\\w-]{32}';
const laterPage = (size: number) =>
  expect.stringMatching(`^GET /v1/orders\\?pageSize=${size}&pageToken=${token}$`);

describe('the argument "first"', () => {
  test.each<[string, OrderNamesQueryVariables]>([
    ['missing', {}],
    ['null', { first: null, after: null }],
  ])('defaults to 20 if it is %s', async (_what, variables) => {
    const { data, calls } = await waybill.ask(OrderNamesDocument, variables);
    expect(names(data.orders.nodes)).toEqual(seeded('orders', 2500, 20));
    expect(calls).toEqual(['GET /v1/orders?pageSize=20']);
  });

  test('is 20 if the document has a literal null', async () => {
    const literal = await waybill.ask<{ orders: { nodes: [] } }, object>(
      '{ orders(first: null, after: null) { nodes { id } } }',
    );
    expect([literal.data.orders.nodes.length, literal.calls]).toEqual([20, ['GET /v1/orders?pageSize=20']]);
  });

  test('takes the default value of a variable that the request omits', async () => {
    const byDefault = await waybill.ask(
      'query ($first: Int! = 1) { orders(first: $first) { nodes { id } } }',
    );
    expect(byDefault.data).toEqual({ orders: { nodes: [{ id: 'orders/ca2500' }] } });
    expect(byDefault.calls).toEqual(['GET /v1/orders?pageSize=1']);
  });

  test('can be 0 to ask only whether the list has rows', async () => {
    const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 0 });
    const pageInfo = { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null };
    expect(data).toEqual({ orders: { nodes: [], pageInfo } });
    expect(calls).toEqual(['GET /v1/orders?pageSize=1']);
  });

  test('can be 1000, the largest page size of the REST service', async () => {
    const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 1000 });
    expect(names(data.orders.nodes)).toEqual(seeded('orders', 2500, 1000));
    expect(calls).toEqual(['GET /v1/orders?pageSize=1000']);
  });

  test.each([-1, 1001, 2_147_483_647, -2_147_483_648])(
    'is rejected without a call when its value is %d',
    async (first) => {
      const refused = (list: string) => ({
        status: 400,
        data: undefined,
        errors: [
          {
            message: `Expected "first" of Query.${list} to be from 0 to 1000, but got ${first}.`,
            locations: [expect.any(Object)],
            extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false },
          },
        ],
        calls: [],
      });
      // Nothing beside it runs either.
      const literal = `{ organization { id } orders(first: ${first}) { nodes { id } } }`;
      expect(await waybill.ask(literal)).toEqual(refused('orders'));
      expect(await waybill.ask(OrderNamesDocument, { first })).toEqual(refused('orders'));
      expect(await waybill.ask(ShipmentNamesDocument, { first })).toEqual(refused('shipments'));
    },
  );

  test.each([2_147_483_648, 1.5, '2', true, [[1, 2]]])(
    'is rejected without a call when its value is not an Int: %j',
    async (first) => {
      const query = 'query ($first: Int) { orders(first: $first) { nodes { id } } }';
      const { status, data, errors, calls } = await waybill.ask(query, { first });
      expect([status, data, errors?.length, calls]).toEqual([400, undefined, 1, []]);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    },
  );
});

describe('the argument "after"', () => {
  const cursorOf = async (variables: OrderNamesQueryVariables, bearer?: string) => {
    const { data } = await waybill.ask(OrderNamesDocument, { first: 2, ...variables }, bearer);
    return data.orders.pageInfo.endCursor ?? '';
  };
  const refuses = async (after: string, variables: OrderNamesQueryVariables = {}, bearer?: string) => {
    const { data, errors, calls } = await waybill.ask(OrderNamesDocument, { ...variables, after }, bearer);
    expect([data, calls]).toEqual([{ orders: null }, []]);
    expect(errors).toMatchObject([
      { path: ['orders'], extensions: { code: 'INVALID_CURSOR', retryable: false } },
    ]);
    expect(errors?.[0]?.message).toMatch(
      /^Expected "after" to be a cursor of this list with the same filters/,
    );
  };

  test.each([
    ['an empty string', ''],
    ['a word', 'forged'],
    ['two words', 'forged.forged'],
    ['a cursor without the digest of its list', encoded([null, 2, 0, null])],
    ['JSON that is not an array', encoded({ pageToken: null, rowsBefore: 2 })],
    ['a page token of the REST service', 'AAAAAAAADzNmcMsru0xWf1hfhTUXFekX'],
    ['NUL', '\u0000'],
    ['a million characters', 'A'.repeat(1_000_000)],
    ['260,000 characters with dots', 'A.'.repeat(130_000)],
  ])('is rejected without a call: %s', (_what, after) => refuses(after));

  test('is rejected without a call if the cursor was tampered with', async () => {
    const cursor = await cursorOf({});
    const [digest, ...position] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    await refuses(encoded([digest, position[0], -1, 0, null]));
    await refuses(encoded([digest, position[0], 2]));
    await refuses(encoded(['A'.repeat(11), ...position]));
    await refuses(cursor.slice(0, -8));
  });

  test('is rejected without a call if its cursor is for other filters or another list', async () => {
    const cursor = await cursorOf({});
    await refuses(cursor, { status: ['NEW'] });
    await refuses(cursor, { search: 'Lucia' });
    await refuses(await cursorOf({ status: ['NEW'] }), { status: ['NEW', 'READY'] });
    await refuses(await cursorOf({ search: 'Lucia' }), {});
    const { data } = await waybill.ask(ShipmentNamesDocument, { first: 2 });
    await refuses(data.shipments.pageInfo.endCursor ?? '');
  });

  test('works with a new access token of the same merchant', async () => {
    const { tokens } = waybill.sandbox;
    const after = await cursorOf({}, tokens.first);
    const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 1, after }, tokens.firstRefreshed);
    expect(names(data.orders.nodes)).toEqual(['orders/ca2498']);
    expect(calls).toEqual([laterPage(1)]);
  });

  test('works with a new access token after the first token has expired', async () => {
    const { sandbox } = waybill;
    const ended = sandbox.issueToken(sandbox.tokens.first);
    const after = await cursorOf({}, ended);
    const next = sandbox.issueToken(ended);
    sandbox.endToken(ended);
    const refused = await waybill.ask(OrderNamesDocument, { first: 1, after }, ended);
    expect(refused.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    const { data } = await waybill.ask(OrderNamesDocument, { first: 1, after }, next);
    expect(names(data.orders.nodes)).toEqual(['orders/ca2498']);
  });

  test('works after a restart of the server', async () => {
    const after = await cursorOf({});
    await using restarted = await startWaybill({}, { sandbox: waybill.sandbox });
    const { data, calls } = await restarted.ask(OrderNamesDocument, { first: 1, after });
    expect(names(data.orders.nodes)).toEqual(['orders/ca2498']);
    expect(calls).toEqual([laterPage(1)]);
  });

  test('is rejected by the REST service if the cursor belongs to another merchant', async () => {
    const { second } = waybill.sandbox.tokens;
    const after = await cursorOf({});
    const { data, errors, calls } = await waybill.ask(OrderNamesDocument, { after }, second);
    expect(data).toEqual({ orders: null });
    expect(errors).toMatchObject([{ path: ['orders'], extensions: { code: 'INVALID_CURSOR' } }]);
    expect(calls).toEqual([laterPage(20)]);
  });

  test('stays valid if the filter lists the same statuses in a different order', async () => {
    const after = await cursorOf({ status: ['READY', 'NEW'] });
    const { data } = await waybill.ask(OrderNamesDocument, { first: 1, after, status: ['NEW', 'READY'] });
    expect(names(data.orders.nodes)).toEqual(['orders/ca2498']);
  });
});

describe('a list that is read page by page', () => {
  test.each([
    ['333 rows at a time', [333], 8],
    ['pages of different sizes', [1, 999, 1000, 7, 2], 7],
  ])('contains every order once and in sequence: %s', async (_what, sizes, pages) => {
    const seen: (string | undefined)[] = [];
    let after: string | null = null;
    for (let page = 0; page < pages; page += 1) {
      const first = sizes[page % sizes.length] ?? 0;
      const answer: Answer<OrderNamesQuery> = await waybill.ask(OrderNamesDocument, { first, after });
      const { nodes, pageInfo } = answer.data.orders;
      seen.push(...names(nodes));
      after = pageInfo.endCursor;
      expect(answer.calls).toEqual([page === 0 ? `GET /v1/orders?pageSize=${first}` : laterPage(first)]);
      expect(pageInfo.hasPreviousPage).toBe(page > 0);
      expect(pageInfo.hasNextPage, `after ${seen.length}`).toBe(seen.length < 2500);
    }
    expect(seen).toEqual(seeded('orders', 2500, 2500));
  });

  test('contains every shipment once and in sequence', async () => {
    const seen: (string | undefined)[] = [];
    for (let after: string | null = null, isMore = true; isMore; ) {
      const page: Answer<ShipmentNamesQuery> = await waybill.ask(ShipmentNamesDocument, {
        first: 777,
        after,
      });
      expect(page.calls.length).toBe(1);
      seen.push(...names(page.data.shipments.nodes));
      after = page.data.shipments.pageInfo.endCursor;
      isMore = page.data.shipments.pageInfo.hasNextPage;
    }
    expect(seen).toEqual(seeded('shipments', 2047, 2047));
  });

  test('returns an empty page after the last row', async () => {
    const all = await waybill.ask(OrderNamesDocument, { first: 6, status: ['NEW'] });
    expect([all.data.orders.nodes.length, all.data.orders.pageInfo.hasNextPage]).toEqual([6, false]);
    const { endCursor } = all.data.orders.pageInfo;
    const { data } = await waybill.ask(OrderNamesDocument, { status: ['NEW'], after: endCursor });
    const pageInfo = { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null };
    expect(data).toEqual({ orders: { nodes: [], pageInfo } });
  });

  test('is empty and has no end cursor if nothing matches', async () => {
    const { data, calls } = await waybill.ask(OrderNamesDocument, { search: 'qqqqzzzz' });
    const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
    expect(data).toEqual({ orders: { nodes: [], pageInfo } });
    expect(calls).toEqual(['GET /v1/orders?pageSize=20&search=qqqqzzzz']);
  });
});

describe('the cursor of an edge', () => {
  test('resumes the list after the edge, on the first page and on a later page', async () => {
    const first = await waybill.ask(OrderEdgesDocument, { first: 5 });
    const second = await waybill.ask(OrderEdgesDocument, {
      first: 5,
      after: first.data.orders.pageInfo.endCursor,
    });
    const [secondCall = ''] = second.calls;
    expect(secondCall).toEqual(laterPage(5));
    const pageToken = secondCall.slice(secondCall.indexOf('&pageToken='));
    for (const [page, rest] of [
      [first, ''],
      [second, pageToken],
    ] as const) {
      const { edges, pageInfo } = page.data.orders;
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges[4]?.cursor]);
      for (const [index, { cursor }] of edges.slice(0, 4).entries()) {
        const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 2, after: cursor });
        const skipped = (page === first ? 0 : 5) + index + 1;
        expect(names(data.orders.nodes)).toEqual(seeded('orders', 2500, 2, skipped));
        expect(calls).toEqual([`GET /v1/orders?pageSize=${index + 3}${rest}`]);
      }
    }
  });

  test('costs two calls for the next 1,000 rows', async () => {
    const { data: page } = await waybill.ask(OrderEdgesDocument, { first: 5 });
    const after = page.orders.edges[1]?.cursor ?? null;
    const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 1000, after });
    expect(names(data.orders.nodes)).toEqual(seeded('orders', 2500, 1000, 2));
    expect(calls).toEqual(['GET /v1/orders?pageSize=1000', laterPage(2)]);
  });
});

test('no row is skipped if the row of the cursor has disappeared', async () => {
  const { data } = await waybill.ask<
    { orders: { edges: { cursor: string; node: { id: string } }[] } },
    unknown
  >('{ orders(first: 3) { edges { cursor node { id } } } }');
  const [first, second, third] = data.orders.edges;
  const remove = waybill.sandbox.faults.add({
    kind: 'change',
    method: 'GET',
    path: '/v1/orders',
    change: (page) => ({
      ...(page as object),
      orders: Object(page).orders.filter(({ name }: { name: string }) => name !== first?.node.id),
    }),
  });
  const next = await waybill.ask(
    'query ($after: String) { orders(first: 2, after: $after) { nodes { id } } }',
    {
      after: first?.cursor,
    },
  );
  remove();
  expect(next.data).toEqual({ orders: { nodes: [second?.node, third?.node] } });
});

import { expect, test } from 'vitest';
import { startBoardApp } from '../../fixtures/board-app.ts';
import { boardNode, boardNodes } from '../../fixtures/board-service.ts';

const byId = `query ($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Shipment { status totalCost { cents } } }
}`;
const shipmentIds = (numbers: readonly number[]) => numbers.map((number) => `shipments/${number}`);
const numbers = (count: number, numberOf: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => numberOf(index));
const shipmentNodes = (of: readonly number[]) =>
  of.map((number) => ({
    id: `shipments/${number}`,
    status: 'DELIVERED',
    totalCost: { cents: 1_000 + number },
  }));

test('an order board that starts at order 2,001 costs three calls', async () => {
  await using app = await startBoardApp({ isShipped: (number) => number % 4 !== 0 });
  await app.board('ana');
  let after: string | undefined;
  for (let page = 0; page < 2; page += 1) {
    const { data } = await app.ask(
      'ana',
      'query ($after: String) { orders(first: 1000, after: $after) { pageInfo { endCursor } nodes { id } } }',
      { after },
    );
    after = data.orders?.pageInfo.endCursor;
  }
  for (const bearer of ['ana', 'ana']) {
    const { data, codes, calls } = await app.board(bearer, { after });
    expect([codes, calls]).toEqual([[], { '/v1/orders': 1, '/v1/shipments': 2 }]);
    const nodes = numbers(100, (index) => 2_001 + index).map((number) =>
      number % 4 === 0 ? { id: `orders/${number}`, shipment: null } : boardNode(number),
    );
    expect(data.orders?.nodes).toEqual(nodes);
  }
});

test('boards that alternate between two statuses cost two calls from round two on', async () => {
  // READY orders lie five rows apart.
  const isReady = (number: number) => number % 5 === 0;
  await using app = await startBoardApp({ statusOf: (number) => (isReady(number) ? 'READY' : 'DELIVERED') });
  const all = numbers(1_000, (index) => index + 1);
  for (let time = 0; time < 5; time += 1) {
    for (const status of ['READY', 'DELIVERED']) {
      const { data, codes, callCount } = await app.board('ana', { status: [status] });
      const expected = all.filter((number) => isReady(number) === (status === 'READY')).slice(0, 100);
      expect([codes, data.orders?.nodes]).toEqual([[], expected.map(boardNode)]);
      // The first page of READY is too short, and one row is compared.
      if (time === 0) expect(callCount).toBeLessThanOrEqual(4);
      else expect(callCount).toBe(2);
    }
  }
});

test('if five ids are far apart in the list, repeated reads try the list only twice', async () => {
  await using app = await startBoardApp();
  const ids = [2_900, 2_300, 1_700, 1_100, 500];
  const callCounts: number[] = [];
  for (let time = 0; time < 10; time += 1) {
    const { data, codes, callCount } = await app.ask('ana', byId, { ids: shipmentIds(ids) });
    expect([codes, data.nodes]).toEqual([[], shipmentNodes(ids)]);
    callCounts.push(callCount);
  }
  expect(callCounts).toEqual([6, 6, 5, 5, 5, 5, 5, 5, 5, 5]);
});

test('shipments that the list no longer contains cost one GET each', async () => {
  await using app = await startBoardApp({ listedCount: 500 });
  const old = numbers(50, (index) => 2_000 + index);
  await app.board('ana');
  for (const callCount of [51, 51, 50, 50]) {
    const { data, codes, ...cost } = await app.ask('ana', byId, { ids: shipmentIds(old) });
    expect([codes, data.nodes, cost.callCount]).toEqual([[], shipmentNodes(old), callCount]);
    const board = await app.board('ana');
    expect([board.codes, board.callCount]).toEqual([[], 2]);
    expect(board.data.orders?.nodes).toEqual(boardNodes(1, 100));
  }
});

test('an order board without orders costs one call', async () => {
  await using app = await startBoardApp({ orderCount: 0 });
  for (let time = 0; time < 3; time += 1) {
    const { data, codes, calls } = await app.board('ana');
    expect([data.orders?.nodes, codes, calls]).toEqual([[], [], { '/v1/orders': 1 }]);
  }
});

test('after two reads of an empty list, ids are read only with GETs', async () => {
  await using app = await startBoardApp({ listedCount: 0 });
  const ids = numbers(10, (index) => index + 1);
  for (const callCount of [11, 11, 10, 10]) {
    const { data, codes, ...cost } = await app.ask('ana', byId, { ids: shipmentIds(ids) });
    expect([codes, data.nodes, cost.callCount]).toEqual([[], shipmentNodes(ids), callCount]);
  }
});

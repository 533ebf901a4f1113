import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startBoardApp } from '../../fixtures/board-app.ts';
import { type BoardService, boardNode, boardNodes, delays } from '../../fixtures/board-service.ts';

type BoardApp = Awaited<ReturnType<typeof startBoardApp>>;

const list = '/v1/shipments';
const record = '/v1/shipments/{id}';
const orders = '/v1/orders';

const realNow = performance.now.bind(performance);
let passedMs = 0;
beforeEach(() => {
  passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
});

/** Moves the clock of the server forward. No operation may be running. */
function passTime(ms: number): void {
  passedMs += ms;
}

/** An app that ends each hanging call after 2 seconds, in which a busy machine answers 100 others. */
const start = () => startBoardApp({}, { UPSTREAM_TIMEOUT_MS: '2000' });

const status = (code: number) => (response: ServerResponse) => {
  response.writeHead(code, { 'content-type': 'application/json' }).end('{}');
};
const hang = () => {};
const html = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
};

/** Responds to the pages of shipments with a fault, for all tokens or for one. */
function failPages(fault: (response: ServerResponse) => void, bearer?: string): BoardService['behaviour'] {
  return (request, response) => {
    if (request.kind === 'orders' || !request.isPage) return false;
    if (bearer !== undefined && request.bearer !== bearer) return false;
    fault(response);
    return true;
  };
}

/** Responds to all calls for shipments with a fault. */
function failShipments(fault: (response: ServerResponse) => void): BoardService['behaviour'] {
  return ({ kind }, response) => {
    if (kind === 'orders') return false;
    fault(response);
    return true;
  };
}

const healthy: BoardService['behaviour'] = () => false;

/** A board has its data, no error, and exactly these calls. */
async function expectBoard(app: BoardApp, bearer: string, calls: Record<string, number>): Promise<void> {
  const board = await app.board(bearer);
  expect([board.codes, board.calls]).toEqual([[], calls]);
  expect(board.data.orders?.nodes).toEqual(boardNodes(1, 100));
}

describe.each([
  ['first returns 503 and then hangs', status(503), 'UPSTREAM_UNAVAILABLE', hang],
  ['first hangs and then returns 503', hang, 'UPSTREAM_TIMEOUT', status(503)],
])('a list of shipments that %s', (_what, fault, code, laterFault) => {
  test('causes errors on only one order board if single GETs work', async () => {
    await using app = await start();
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
    app.service.behaviour = failPages(fault);
    const first = await app.board('ana');
    expect(first.calls).toEqual({ [orders]: 1, [list]: 1, [record]: 1 });
    expect(first.codes).toEqual(Array.from({ length: 99 }, () => code));
    const ids = Array.from({ length: 99 }, (_, index) => ({ id: `orders/${index + 2}`, shipment: null }));
    expect(first.data.orders?.nodes).toEqual([boardNode(1), ...ids]);
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
    await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
    app.service.behaviour = failPages(laterFault);
    passTime(30_000);
    // The list is tried, and no id loses its record.
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
    await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
    app.service.behaviour = healthy;
    passTime(30_000);
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1 });
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1 });
  });

  test('causes errors for only two tokens if single GETs work', async () => {
    await using app = await start();
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
    app.service.behaviour = failPages(fault);
    for (const bearer of ['eva', 'ida']) {
      const { codes, callCount } = await app.board(bearer);
      expect([codes.length, callCount]).toEqual([99, 3]);
    }
    await expectBoard(app, 'luz', { [orders]: 1, [list]: 1, [record]: 100 });
    for (const bearer of ['ana', 'mar', 'sol']) {
      await expectBoard(app, bearer, { [orders]: 1, [record]: 100 });
    }
    app.service.behaviour = healthy;
    passTime(30_000);
    for (const bearer of ['ana', 'eva', 'sol']) await expectBoard(app, bearer, { [orders]: 1, [list]: 1 });
  });

  test('costs three calls per order board if single GETs fail too', async () => {
    await using app = await start();
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
    app.service.behaviour = failShipments(fault);
    for (const bearer of ['ana', 'ana', 'eva']) {
      const { data, codes, calls } = await app.board(bearer);
      expect(calls).toEqual({ [orders]: 1, [list]: 1, [record]: 1 });
      expect(codes).toEqual(Array.from({ length: 100 }, () => code));
      expect(data.orders?.nodes).toHaveLength(100);
    }
    app.service.behaviour = failShipments(laterFault);
    expect((await app.board('ana')).callCount).toBe(3);
    app.service.behaviour = healthy;
    for (const bearer of ['ana', 'eva', 'luz']) await expectBoard(app, bearer, { [orders]: 1, [list]: 1 });
  });
});

test('an order board costs at most three calls if every second list call returns 503', async () => {
  await using app = await start();
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
  let pageCount = 0;
  app.service.behaviour = (request, response) => {
    if (request.kind === 'shipments' && request.isPage) pageCount += 1;
    return pageCount % 2 === 1 && failPages(status(503))(request, response);
  };
  for (let time = 0; time < 5; time += 1) {
    const failed = await app.board('ana');
    expect([failed.codes.length, failed.callCount]).toEqual([99, 3]);
    await expectBoard(app, 'ana', { [orders]: 1, [list]: 1 });
  }
});

test('on a new server, an order board costs at most four calls if shipment calls fail', async () => {
  await using app = await start();
  app.service.behaviour = failShipments(status(503));
  const boards = await Promise.all(Array.from({ length: 20 }, (_, index) => app.board(`token-${index}`)));
  for (const { callCount, codes } of boards) {
    expect(callCount).toBeLessThanOrEqual(4);
    expect(codes).toHaveLength(100);
  }
  app.service.behaviour = healthy;
  // Open circuits close again.
  passTime(11_000);
  await app.board('ana');
  await expectBoard(app, 'eva', { [orders]: 1, [list]: 1 });
});

test.each([
  ['returns 500', status(500)],
  ['returns 501', status(501)],
  ['sends HTML', html],
])('a list of shipments that %s is replaced by GETs for 30 seconds', async (_what, fault) => {
  await using app = await start();
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
  app.service.behaviour = failPages(fault);
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
  await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
  app.service.behaviour = healthy;
  passTime(30_000);
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1 });
});

test('a 403 for the list of shipments affects only the token of the call', async () => {
  await using app = await start();
  await expectBoard(app, 'eva', { [orders]: 1, [list]: 1, [record]: 1 });
  app.service.behaviour = failPages(status(403), 'ana');
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
  await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
  await expectBoard(app, 'eva', { [orders]: 1, [list]: 1 });
  // A minute less than the pause, because the calls before take a busy machine some seconds.
  passTime(540_000);
  await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
});

test('shipments are read with GETs after two order boards got list rows without labels', async () => {
  await using app = await start();
  app.service.changeRow = ({ label: _, ...row }) => row;
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 100 });
  await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
});

test('a server that starts under load ignores list rows that lack the total cost', async () => {
  await using app = await start();
  app.service.changeRow = ({ totalCostCents: _, ...row }) => row;
  // Pages come before the record that shows what they lack.
  app.service.behaviour = delays(1, 50);
  const tokens = Array.from({ length: 8 }, (_, index) => `token-${index}`);
  for (const board of await Promise.all(tokens.map((token) => app.board(token)))) {
    expect(board.codes).toEqual([]);
    expect(board.data.orders?.nodes).toEqual(boardNodes(1, 100));
    expect(board.callCount).toBeLessThanOrEqual(102);
  }
  await expectBoard(app, 'ana', { [orders]: 1, [record]: 100 });
  app.service.changeRow = (row) => row;
  passTime(600_000);
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1, [record]: 1 });
  await expectBoard(app, 'ana', { [orders]: 1, [list]: 1 });
});

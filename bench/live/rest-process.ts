import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boardSize, type Change, now, type RestOrder, type RestSeen, tokenStart } from './boards.ts';

// The REST service of the streams, in a process of its own. Each token has a board of orders with shipments. While the
// boards change, the records change at random times. The service can be away: it refuses connections then.

interface Board {
  /** The values of the orders, and then of the shipments. */
  values: number[];
  changes: Change[];
}

const boards = new Map<string, Board>();
let calls: RestSeen['calls'] = [];
let areChanging = false;

function boardOf(token: string): Board {
  const board = boards.get(token) ?? { values: Array(2 * boardSize).fill(0), changes: [] };
  if (!boards.has(token) && areChanging) changeLater(board);
  boards.set(token, board);
  return board;
}

/** Half of the states are shorter than a look, and half last for several looks. */
function changeLater(board: Board): void {
  const delayMs = Math.random() < 0.5 ? 100 + 1_400 * Math.random() : 5_000 + 5_000 * Math.random();
  setTimeout(() => {
    if (!areChanging) return;
    const record = Math.floor(Math.random() * board.values.length);
    board.changes.push({ record, atMs: now() });
    board.values[record] = board.changes.length;
    changeLater(board);
  }, delayMs);
}

function orderOf(token: string, { values }: Board, index: number): object {
  const [name, shipment] = [`orders/o${index}`, `shipments/s${index}`];
  return { name, shipment, status: 'IN_PROGRESS', notes: `${token} ${values[index]}` };
}

function shipmentOf(token: string, { values }: Board, index: number): object {
  const number = Number(token.slice(tokenStart.length)) || 0;
  const totalCostCents = number * 1_000_000 + (values[boardSize + index] ?? 0);
  // Without a label, a row of a list is not complete.
  return { name: `shipments/s${index}`, status: 'IN_PROGRESS', label: `labels/l${index}`, totalCostCents };
}

const indexes = Array.from({ length: boardSize }, (_, index) => index);

function jsonOf(token: string, path: string): object | undefined {
  if (path === '/v1/organizations/mine')
    return { name: 'organization/1', balanceCents: 1, creditLimitCents: 0 };
  const board = boardOf(token);
  if (path === '/v1/orders')
    return { orders: indexes.map((index) => orderOf(token, board, index)), nextPageToken: '' };
  if (path === '/v1/shipments')
    return { shipments: indexes.map((index) => shipmentOf(token, board, index)), nextPageToken: '' };
  const index = /^\/v1\/shipments\/s(\d+)$/.exec(path)?.[1];
  return index === undefined ? undefined : shipmentOf(token, board, Number(index));
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const { pathname } = new URL(request.url ?? '', 'http://rest');
  calls.push({ token, path: pathname, atMs: now() });
  const json = jsonOf(token, pathname);
  response.writeHead(json === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(json ?? { error: { message: 'There is none.' } }));
}

let server: Server;

function listen(port: number): Promise<number> {
  server = createServer({ keepAliveTimeout: 600_000 }, answer);
  return new Promise((resolve) => {
    // A server on a TCP port has an address of this form.
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const port = await listen(0);
process.send?.(`http://127.0.0.1:${port}`);

async function follow({ isAway, isChanging }: RestOrder): Promise<void> {
  if (isChanging !== undefined && isChanging !== areChanging) {
    areChanging = isChanging;
    if (isChanging) for (const board of boards.values()) changeLater(board);
  }
  if (isAway === true) {
    server.close();
    server.closeAllConnections();
  }
  if (isAway === false) await listen(port);
}

// The parent sends nothing else.
process.on('message', async (order: RestOrder) => {
  await follow(order);
  const changes = Object.fromEntries([...boards].map(([token, board]) => [token, board.changes]));
  process.send?.({ calls, changes } satisfies RestSeen);
  calls = [];
});
process.once('disconnect', () => process.exit());

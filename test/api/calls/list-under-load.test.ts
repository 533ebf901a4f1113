import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type BoardResponse, startBoardApp } from '../../fixtures/board-app.ts';
import { boardNodes, delays } from '../../fixtures/board-service.ts';

type BoardApp = Awaited<ReturnType<typeof startBoardApp>>;

/** A board of the stream, with the time of its request. */
interface StreamedBoard extends BoardResponse {
  askedAtMs: number;
}

/** Asks for a board every 100 ms, in turn with one token and with a new one, until `isOver`. */
async function stream(app: BoardApp, isOver: () => boolean): Promise<StreamedBoard[]> {
  const boards: Promise<StreamedBoard>[] = [];
  while (!isOver()) {
    const askedAtMs = performance.now();
    const bearer = boards.length % 2 === 0 ? 'operator' : `new-${boards.length}`;
    boards.push(app.board(bearer).then((board) => ({ ...board, askedAtMs })));
    await sleep(100);
  }
  return Promise.all(boards);
}

/** Streams boards during trouble of three seconds, and for two seconds after it. */
async function streamWithTrouble(app: BoardApp, startTrouble: () => () => void) {
  for (let count = 0; count < 3; count += 1) await app.board('operator');
  const startedAtMs = performance.now();
  const endTrouble = startTrouble();
  const timer = setTimeout(endTrouble, 3_000);
  const boards = await stream(app, () => performance.now() > startedAtMs + 5_000);
  clearTimeout(timer);
  const after = boards.filter(({ askedAtMs }) => askedAtMs > startedAtMs + 3_000);
  return { boards, during: boards.slice(0, boards.length - after.length), after };
}

const callCounts = (boards: readonly BoardResponse[]) => boards.map(({ callCount }) => callCount);

/** Every board has its data and no error. */
function expectWhole(boards: readonly BoardResponse[]): void {
  for (const { data, codes } of boards) {
    expect(codes).toEqual([]);
    expect(data.orders?.nodes).toEqual(boardNodes(1, 100));
  }
}

describe('a new server with 32 clients and a new token for every request', () => {
  test.each([
    [1, 12],
    [100, 6],
  ])('makes at most three calls per order board if a call takes %i ms', async (delayMs, boardsPerClient) => {
    await using app = await startBoardApp();
    app.service.behaviour = delays(delayMs, delayMs);
    const boards: BoardResponse[] = [];
    const client = async (name: number) => {
      for (let count = 0; count < boardsPerClient; count += 1) {
        boards.push(await app.board(`client-${name}-${count}`));
      }
    };
    await Promise.all(Array.from({ length: 32 }, (_, name) => client(name)));
    expect(boards).toHaveLength(32 * boardsPerClient);
    expectWhole(boards);
    expect(Math.max(...callCounts(boards))).toBeLessThanOrEqual(3);
    const later = [await app.board('later-1'), await app.board('later-2'), await app.board('later-3')];
    expectWhole(later);
    expect(callCounts(later)).toEqual([2, 2, 2]);
  });
});

describe('an order board in a stream of order boards', () => {
  test('costs at most four calls while shipment pages take 1.2 s and other calls 300 ms', async () => {
    await using app = await startBoardApp();
    app.service.behaviour = delays(1, 1);
    const { boards, during, after } = await streamWithTrouble(app, () => {
      app.service.behaviour = delays(1_200, 300);
      return () => {
        app.service.behaviour = delays(1, 1);
      };
    });
    expectWhole(boards);
    expect([during.length > 5, after.length > 5]).toEqual([true, true]);
    expect(Math.max(...callCounts(during))).toBeLessThanOrEqual(4);
    expect(Math.max(...callCounts(after))).toBeLessThanOrEqual(3);
  });

  test('costs at most four calls while the CPU of the process is busy', async () => {
    await using app = await startBoardApp();
    app.service.behaviour = delays(1, 1);
    const { boards, during, after } = await streamWithTrouble(app, () => {
      const timer = setInterval(() => {
        const untilMs = performance.now() + 200;
        while (performance.now() < untilMs);
      }, 20);
      return () => clearInterval(timer);
    });
    expectWhole(boards);
    expect([during.length > 2, after.length > 5]).toEqual([true, true]);
    expect(Math.max(...callCounts(during))).toBeLessThanOrEqual(4);
    expect(Math.max(...callCounts(after))).toBeLessThanOrEqual(3);
  });
});

test('concurrent order boards of 20 tokens cost at most three calls each', async () => {
  await using app = await startBoardApp();
  for (let time = 0; time < 3; time += 1) {
    const tokens = Array.from({ length: 20 }, (_, index) => `token-${index}`);
    const boards = await Promise.all(tokens.map((token) => app.board(token)));
    expectWhole(boards);
    expect(Math.max(...callCounts(boards))).toBeLessThanOrEqual(time === 0 ? 3 : 2);
  }
});

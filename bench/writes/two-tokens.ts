import pLimit from 'p-limit';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startRestarted } from './restarted-server.ts';
import { startSharedDatabase } from './shared-database.ts';
import { askOnce, countShipments, makeWrite, type Write } from './six-writes.ts';
import { createdIn } from './true-answers.ts';

export interface TwoTokensReport {
  /** The number of rounds by keys and results. */
  results: Record<string, number>;
  /** The orders with no shipment or with several. */
  faults: string[];
}

const atOnce = 10;
const keysOf = {
  'no keys': () => [null, null],
  'one key': (round: number) => [`same-${round}`, `same-${round}`],
  'two keys': (round: number) => [`one-${round}`, `other-${round}`],
};

/** Ships one order with two tokens through two servers at the same time: with one key, with two keys, with none. */
export async function shipThroughTwoServers(rounds: number): Promise<TwoTokensReport> {
  const database = await startSharedDatabase('synchronous', 2);
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 3_000 } });
  const servers = await Promise.all(
    database.urls.map((url) => startRestarted({ UPSTREAM_URL: sandbox.url, STATE_URL: url })),
  );
  const tokens = [sandbox.tokens.first, sandbox.tokens.firstRefreshed];
  const report: TwoTokensReport = { results: {}, faults: [] };
  const orders: string[] = [];
  try {
    await pLimit(atOnce).map(Array.from({ length: rounds }), async (_, round) => {
      // The sixth kind of write is `shipOrder`.
      const write = await makeWrite(sandbox, 5, `r${round}-`);
      orders.push(String(write.input.order));
      const [how = '', keys] = Object.entries(keysOf)[round % 3] ?? [];
      const answers = await Promise.all(
        servers.map(async (server, index) => {
          const input = { ...write.input, idempotencyKey: keys?.(round)[index] };
          return askOnce(await server.url(), { ...write, input } satisfies Write, tokens[index] ?? '');
        }),
      );
      const results = answers.map(({ result }) => result).sort();
      const created = new Set(answers.flatMap((answer) => createdIn(answer, { write })));
      const name = `${how}: ${results.join(', ')}, ${created.size === 1 ? 'one shipment' : `${created.size} shipments`}`;
      report.results[name] = (report.results[name] ?? 0) + 1;
    });
    const shipments = await countShipments(sandbox);
    for (const order of orders) {
      const count = shipments.get(order) ?? 0;
      if (count !== 1) report.faults.push(`${order} has ${count} shipments`);
    }
    return report;
  } finally {
    for (const server of servers) await server.end();
    await sandbox.close();
    await database.close();
  }
}

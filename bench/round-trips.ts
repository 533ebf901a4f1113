/**
 * `npm run bench:calls`: what the screens of a merchant's back office cost in REST calls and in time. Each is looked at
 * in four ways, at three distances to REST, and every answer is held against the hand-written client's, field by field.
 * Prints Markdown, for the README.
 */

import { deepStrictEqual } from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { type Cost, type MeasureOptions, measure } from './measure.ts';
import { orderBoardInCalls } from './order-board-in-calls.ts';
import { createRest } from './rest.ts';
import type { Screen } from './screen.ts';
import { screens } from './screens.ts';
import { table } from './table.ts';
import { startUpstream } from './upstream.ts';
import { byHand, createWaybill, oneGetPerId, type Way } from './ways.ts';

// The nearer REST is, the more the times vary, and the shorter a run is.
const distances = [
  { latencyMs: 0, runs: 9 },
  { latencyMs: 20, runs: 7 },
  { latencyMs: 100, runs: 3 },
];

const upstream = await startUpstream();
const rest = createRest(upstream.url, upstream.tokens.first);
const waybill = createWaybill(upstream);
const ways: Record<string, Way> = {
  cold: waybill.cold,
  warm: waybill.steady(),
  'GET per id': waybill.steady(oneGetPerId),
  'by hand': byHand(rest),
};

/** @throws AssertionError where an answer differs from what the hand-written client says. */
async function costsOf(screen: Screen, at: MeasureOptions): Promise<Cost[]> {
  const expected = await screen.byRest(rest);
  const costs: Cost[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const title = `${screen.name}, ${name}`;
    const check = (answer: unknown) => deepStrictEqual({ [title]: answer }, { [title]: expected });
    costs.push(await measure(at, way(screen), check));
  }
  return costs;
}

try {
  // Until the code is compiled, whichever way comes first would look slow.
  for (const screen of screens) await costsOf(screen, { upstream, latencyMs: 0, runs: 2 });

  const date = new Date().toISOString().slice(0, 10);
  console.log(`${date}, Node ${process.versions.node}, ${availableParallelism()} cores.`);
  for (const { latencyMs, runs } of distances) {
    const rows = [];
    for (const screen of screens) {
      rows.push({ screen: screen.name, costs: await costsOf(screen, { upstream, latencyMs, runs }) });
    }
    console.log(`\n### ${latencyMs} ms from REST, ${runs} runs\n\n${table(Object.keys(ways), rows)}`);
  }
  const inCalls = await orderBoardInCalls({ upstream, latencyMs: 20, runs: 15 }, waybill, rest);
  console.log(`\n### The order board in calls, 20 ms from REST\n\n${inCalls}`);
} finally {
  await waybill.close();
  await rest.close();
  upstream.close();
}

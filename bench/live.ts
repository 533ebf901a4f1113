/**
 * `npm run bench:live`: checks and measures streams of subscriptions, before a REST service with a board for each token.
 * The server, REST and the clients are processes of their own. Ends with exit code 1 if a stream is wrong or a measure is
 * missed.
 */

import { parseArgs } from 'node:util';
import { measureChanging } from './live/changing.ts';
import { measureChurn } from './live/churn.ts';
import { measureIdle } from './live/idle.ts';
import { measureOutage } from './live/outage.ts';
import type { Report } from './live/server.ts';
import { markdownTable } from './markdown-table.ts';
import { runAsLoad, sharing } from './server-process.ts';

const { values: options } = parseArgs({
  options: {
    /** The parts whose names contain this text: `changing`, `idle`, `outage`, `churn`. */
    only: { type: 'string', default: '' },
    streams: { type: 'string', default: '1000' },
    tokens: { type: 'string', default: '10' },
    /** How long the boards change. */
    'changing-ms': { type: 'string', default: '60000' },
    /** The rounds beside idle streams, and as many alone. */
    rounds: { type: 'string', default: '2' },
    /** The small queries of a round. */
    samples: { type: 'string', default: '800' },
    /** The wait before the small queries beside idle streams. After 32 seconds, streams look every 30 seconds. */
    'settle-ms': { type: 'string', default: '32000' },
    /** How long REST is away. */
    'outage-ms': { type: 'string', default: '30000' },
    /** The streams that open and end. */
    churn: { type: 'string', default: '10000' },
  },
});
const size = { streams: Number(options.streams), tokens: Number(options.tokens) };
const parts: Record<string, () => Promise<Report>> = {
  changing: () => measureChanging({ ...size, forMs: Number(options['changing-ms']) }),
  idle: () =>
    measureIdle({
      ...size,
      rounds: Number(options.rounds),
      samples: Number(options.samples),
      settleMs: Number(options['settle-ms']),
    }),
  outage: () => measureOutage({ ...size, forMs: Number(options['outage-ms']) }),
  churn: () => measureChurn({ ...size, streams: Number(options.churn) }),
};

/** One fault has many streams. */
const shownMisses = 5;

runAsLoad();
process.stdout.write(`Streams of ${size.tokens} tokens; ${sharing}.\n`);
for (const [name, measure] of Object.entries(parts)) {
  if (!name.includes(options.only)) continue;
  const { head, rows, misses } = await measure();
  const end = misses.length === 0 ? ['All that is asked holds.'] : misses.slice(0, shownMisses);
  if (misses.length > shownMisses) end.push(`and ${misses.length - shownMisses} more`);
  process.stdout.write(`\n### ${name}\n\n${markdownTable(head, rows)}\n\n${end.join('\n')}\n`);
  if (misses.length > 0) process.exitCode = 1;
}

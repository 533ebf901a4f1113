import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { attacks } from '../bench/fairness/attacks.ts';
import { type Figures, medianFigures, missedFloors, type Spread } from '../bench/fairness/figures.ts';
import { probeNames } from '../bench/fairness/probes.ts';
import { boardSize } from '../bench/live/boards.ts';
import { missesOf, statesOf } from '../bench/live/changing.ts';
import type { Post } from '../bench/writes/troubled-rest.ts';
import { faultsOf } from '../bench/writes/true-answers.ts';
import { createRandom } from '../src/sandbox/seed/random.ts';
import { isPostgresMissing } from './fixtures/postgres.ts';

// Each program of the benchmark runs to its end, with its shortest options. No test looks at a measured time. Most of
// these programs take half a minute of two cores, so only `npm run test:bench` runs them.

const timeoutMs = 180_000;
const isProgramRun = process.env.BENCH_TESTS === 'yes';
const program = test.runIf(isProgramRun);

const quick = '--rounds 1 --round-ms 100 --warm-up-ms 100 --cold-ms 500'.split(' ');

/** Runs a program with these arguments. @returns its exit code and the cells of all tables that it printed */
async function run(...args: string[]) {
  const child = spawn(process.execPath, args, {
    cwd: resolve(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const rows = output
    .split('\n')
    .flatMap((line) => (line.startsWith('| ') ? [line.slice(2, -2).split(' | ')] : []));
  return { code, output, rows };
}

program(
  'npm run bench measures Waybill and a hand-written server',
  async () => {
    const selected = ['--servers', 'waybill', '--workloads', 'deep'];
    const { code, output, rows } = await run('bench/bench.ts', '--short', ...selected, ...quick);
    const measured = rows.filter((cells) => cells.length === 10).map(([server]) => server);
    const table = ['server', '---', 'by hand', 'Waybill'];
    // With two loads, and cold.
    expect(measured).toEqual([...table, ...table, ...table]);
    expect(rows).toContainEqual(['asked', 'target', 'came', 'met']);
    expect(output).not.toContain('Not measured');
    expect(code).toBe(0);
  },
  timeoutMs,
);

program(
  'npm run bench:documents measures a document of labels',
  async () => {
    const { output, rows } = await run(
      'bench/documents.ts',
      ...'--labels 4 --rounds 1 --samples 20 --skip-scan'.split(' '),
    );
    expect(rows.map(([first]) => first).slice(0, 5)).toEqual([
      'layout',
      '---',
      'AS_IS',
      'THERMAL_4X6_IN',
      'A4_FOUR',
    ]);
    expect(output).toMatch(/beside \d+ documents/);
  },
  timeoutMs,
);

program(
  'npm run bench -- --against measures two checkouts alternately',
  async () => {
    const root = resolve(import.meta.dirname, '..');
    const { code, rows } = await run('bench/bench.ts', '--against', root, '--workloads', 'order', ...quick);
    expect(rows.map(([workload]) => workload)).toEqual(['workload', '---', 'order', 'order, cold']);
    expect(code).toBe(0);
  },
  timeoutMs,
);

test(
  'npm run bench:calls counts the REST calls that each screen costs',
  async () => {
    const { code, rows } = await run('bench/round-trips.ts', '--short');
    const calls = rows
      .filter((cells) => cells.length === 9)
      .map((cells) => [cells[0], cells[1], cells[5], cells[7]]);
    expect(calls).toEqual([
      ['screen', 'cold: calls', 'GET per id: calls', 'by hand: calls'],
      ['---', '--:', '--:', '--:'],
      ['order board, 100 orders', '5', '139', '5'],
      ['order page', '6', '6', '6'],
      ['customer page, 20 orders', '17', '17', '17'],
      ['shipment board, 100 shipments', '2', '2', '2'],
      ['label queue', '3', '9', '2'],
      ['quote comparison', '4', '4', '4'],
      ['inbox, 10 conversations', '11', '11', '11'],
      ['conversation, 50 messages', '3', '3', '3'],
      ['organization header', '1', '1', '1'],
      ['origin picker', '5', '5', '3'],
      ['order board, 2,000 orders down', '4', '88', '3'],
    ]);
    expect(rows).toContainEqual([
      'order board',
      'ms',
      'times two calls',
      'times one call',
      'times both at once',
    ]);
    expect(code).toBe(0);
  },
  timeoutMs,
);

program(
  'npm run bench:writes writes nothing twice while the server is killed',
  async () => {
    const { code, output, rows } = await run(
      'bench/writes.ts',
      '--only',
      'kills',
      '--seeds',
      '7',
      '--writes',
      '90',
    );
    expect(output).toContain('No write was done twice or lost.');
    expect(output).toMatch(/Seed 7: [1-9]\d* kills/);
    const successes = rows.map(([result = '']) => result).filter((result) => result.endsWith('Success'));
    // A killed server may leave the outcomes of some writes unknown.
    expect(successes).toEqual([
      'createOrder CreateOrderSuccess',
      'createQuote CreateQuoteSuccess',
      'createShipment CreateShipmentSuccess',
      'sendMessage SendMessageSuccess',
      'sendMessageToPhone SendMessageSuccess',
      'shipOrder ShipOrderSuccess',
    ]);
    expect(code).toBe(0);
  },
  timeoutMs,
);

program(
  'npm run bench:writes writes nothing twice while REST is in trouble',
  async () => {
    const selected = ['--only', 'troubles', '--seeds', '7', '--troubled-writes', '12'];
    const { output } = await run('bench/writes.ts', ...selected);
    const kept = output.match(/Seed 7, .*: |No write was done twice, and no answer was wrong\./g);
    expect(kept?.toSorted()).toEqual([
      ...Array(3).fill('No write was done twice, and no answer was wrong.'),
      'Seed 7, foreign answers: ',
      'Seed 7, lagging reads: ',
      'Seed 7, repeated POSTs: ',
    ]);
  },
  timeoutMs,
);

test.runIf(isProgramRun && !isPostgresMissing)(
  'npm run bench:writes writes nothing twice while PostgreSQL fails over',
  async () => {
    // The first disturbance of this seed is the end of the primary.
    const selected = ['--only', 'servers: synchronous', '--seeds', '13', '--writes', '12'];
    const { code, output, rows } = await run('bench/writes.ts', ...selected);
    expect(output).toContain('No write was done twice, and no answer was wrong.');
    expect(rows).toContainEqual(['the primary is killed', '1']);
    expect(code).toBe(0);
  },
  timeoutMs,
);

test('npm run bench:writes counts wrong answers as failures', async () => {
  const input = { order: 'orders/1', idempotencyKey: 'key' };
  const shipment = (name: string, quote: string) => ({
    kind: 'shipments',
    doneAtMs: 1,
    names: [name],
    quote,
  });
  const success = (name: string) => [
    'ShipOrderSuccess',
    `{"order":{"id":"orders/1"},"shipment":{"id":"${name}"}}`,
  ];
  const faults = async (answer: string[], ...posts: Post[]) => {
    const [result = '', text = '', conflictReason] = answer;
    const timed = { result, text, conflictReason, message: '', isRetryable: false };
    const write = { mutation: 'shipOrder', document: '', input, isOwnPost: () => false };
    const marker = 'w1-1-';
    const key = {
      ...{ marker, random: createRandom(1), posts, note: () => {}, write, hasKey: true, tokens: [] },
      answers: [{ ...timed, startedAtMs: 0, endedAtMs: 2 }],
    };
    const wish = { marker, write, shippedOnce: 'orders/1', keys: [key], history: [] };
    const found = await faultsOf([wish], async (quote) => (quote === 'quotes/9' ? 'orders/9' : 'orders/1'));
    return found.map(({ kind }) => kind.replace('shipOrder: ', ''));
  };
  const own = shipment('shipments/1', 'quotes/1');
  expect(await faults(success('shipments/1'), own)).toEqual([]);
  expect(await faults(['OutcomeUnknown', ''], own)).toEqual([]);
  expect(await faults(['UPSTREAM_ERROR', ''], own)).toEqual([]);
  expect(await faults(['NOT_FOUND', ''], own)).toEqual(['NOT_FOUND, but REST has done the write']);
  expect(await faults(['Conflict', 'orders/1', 'ORDER_FINISHED'])).toEqual([]);
  expect(await faults(success('shipments/1'), own, shipment('shipments/2', 'quotes/2'))).toEqual([
    '2 shipments of one order or quote',
    '2 writes with one key',
  ]);
  expect(await faults(success('shipments/2'), own)).toEqual([
    'ShipOrderSuccess shows the name of another record',
  ]);
  expect(await faults(success('shipments/9'), shipment('shipments/9', 'quotes/9'))).toEqual([
    'a shipment of another order or quote',
  ]);
  expect(await faults(['Conflict', 'shipments/1', 'STATE'], own)).toEqual([
    'Conflict, but REST has done the write',
  ]);
  expect(await faults(['Conflict', '', 'ALREADY_SHIPPED'])).toEqual([
    'ALREADY_SHIPPED, but nothing is shipped',
  ]);
});

const quickStreams = '--streams 40 --tokens 4'.split(' ');

program.each([
  ['changing', ['--changing-ms', '20000']],
  // Longer than the time between two looks, which is at most 8 seconds then.
  ['outage', ['--outage-ms', '12000']],
  ['churn', ['--churn', '200']],
])(
  'npm run bench:live finds nothing wrong with streams: %s',
  async (part, options) => {
    const { code, output, rows } = await run('bench/live.ts', '--only', part, ...quickStreams, ...options);
    expect(rows.map(([streams]) => streams)).toEqual(['streams', '---', part === 'churn' ? '200' : '40']);
    expect(output).toContain('All that is asked holds.');
    expect(code).toBe(0);
  },
  timeoutMs,
);

program(
  'npm run bench:live measures idle streams and a small query beside them',
  async () => {
    const short = ['--rounds', '1', '--samples', '50', '--settle-ms', '500'];
    const { rows } = await run('bench/live.ts', '--only', 'idle', ...quickStreams, ...short);
    expect(rows.map(([watched]) => watched)).toEqual(['watched', '---', 'a balance', 'a board of 20 orders']);
  },
  timeoutMs,
);

describe('the check of npm run bench:live', () => {
  const zeros = Array<number>(2 * boardSize).fill(0);
  const valuesAt = (version: number) => zeros.with(0, version);
  const eventOf = (values: readonly number[], token = 'board-3') => {
    const nodes = values.slice(0, boardSize).map((value, index) => ({
      notes: `${token} ${value}`,
      shipment: {
        totalCost: {
          cents: Number(token.slice('board-'.length)) * 1_000_000 + (values[boardSize + index] ?? 0),
        },
      },
    }));
    return { json: JSON.stringify({ data: { orders: { nodes } } }), atMs: 0 };
  };
  const changes = [20_000, 40_000].map((atMs) => ({ record: 0, atMs }));
  const looksMs = [0, 2_000, 20_500, 22_500, 41_000];
  const states = statesOf(changes, looksMs, { startMs: 0, endMs: 42_000 });
  const missesAfter = (...events: ReturnType<typeof eventOf>[]) =>
    missesOf({ token: 'board-3', events }, states, { valuesByText: new Map(), lagsMs: [] }).misses;
  const [first, second, third] = [0, 1, 2].map(valuesAt).map((values) => eventOf(values));

  test('accepts states that are pushed once and in order', () => {
    expect(states.map(({ isLong }) => isLong)).toEqual([true, true, false]);
    if (!first || !second || !third) throw new Error('There are three states');
    expect(missesAfter(first, second)).toEqual([]);
    expect(missesAfter(first, second, third)).toEqual([]);
  });

  test('counts a state as long if it outlasts two looks, even if no look saw the state', () => {
    const unseen = statesOf(changes, [0, 2_000, 41_000], { startMs: 0, endMs: 42_000 });
    // The time between two looks was at most 22 seconds.
    expect(unseen.map(({ isLong }) => isLong)).toEqual([true, false, false]);
    const earlier = [{ record: 0, atMs: 2_000 }, ...changes];
    expect(statesOf(earlier, [0, 41_000], { startMs: 0, endMs: 42_000 }).map(({ isLong }) => isLong)).toEqual(
      [false, true, false, false],
    );
  });

  test('reports a long state that is missing, doubled or late', () => {
    if (!first || !second || !third) throw new Error('There are three states');
    expect(missesAfter(first, third)).toEqual(['board-3: a state that was pushed 0 times']);
    expect(missesAfter(first, second, second)).toEqual([
      'board-3: an event twice',
      'board-3: a state that was pushed 2 times',
    ]);
    expect(missesAfter(second, first)).toEqual(['board-3: an older state after a newer one']);
  });

  test('reports a record of another token', () => {
    expect(() => missesAfter(eventOf(zeros, 'board-4'))).toThrow('board-3 got the order "board-4 0"');
  });
});

program(
  'npm run bench:writes -- --holds measures how long the event loop is blocked',
  async () => {
    const { code, rows } = await run('bench/writes.ts', '--holds', '1');
    expect(rows.map(([, work]) => work)).toEqual(['work', '---', '100 shipOrders with keys at once']);
    expect(code).toBe(0);
  },
  timeoutMs,
);

program(
  'npm run bench:fairness measures a burst and a siege',
  async () => {
    const attacks = ['--attacks', 'one request;30 connections of made-up tokens, one document'];
    const { code, rows } = await run('bench/fairness.ts', '--tries', '1', '--samples', '5', ...attacks);
    const seen = rows.map((cells) => [cells[0], cells[5], cells.length]);
    expect(seen.slice(2)).toEqual([
      ['one request with 29,000 empty pages', '0', 12],
      ['30 connections of made-up tokens, one document', '0', 12],
    ]);
    expect(rows[2]?.at(-1)).toBe('1 × 400');
    const floors = rows.slice(2).map((cells) => cells[10]);
    expect(floors.join()).toMatch(/^(held|missed: [^,]+),(held|missed: [^,]+)$/);
    expect(code).toBe(0);
  },
  timeoutMs,
);

describe('the floors of npm run bench:fairness', () => {
  const spread = (longest: number): Spread => ({ p50: 1, p99: longest, longest });
  const figures = (longest: number, others: Partial<Figures> = {}): Figures => ({
    waits: Object.fromEntries(
      [...probeNames, 'page of 1,000', 'new token'].map((name) => [name, spread(longest)]),
    ),
    ...{ failed: 0, longestHoldMs: 0, peakMb: 699.9, statuses: {}, ...others },
  });
  const allNames = [
    'live, kept open',
    'live, new',
    'small query, kept open',
    'small query, new',
    'page of 1,000',
    'new token',
    'failed',
    'peak MB',
  ];

  test('hold up to their bounds', () => {
    expect(missedFloors(figures(1_000))).toEqual([]);
    expect(missedFloors(figures(1_001))).toEqual(
      allNames.filter((name) => !['small query, new', 'page of 1,000', 'failed', 'peak MB'].includes(name)),
    );
    expect(missedFloors(figures(2_001, { failed: 1, peakMb: 700 }))).toEqual(allNames);
  });

  test('do not hold when the server has ended', () => {
    expect(missedFloors(figures(1, { peakMb: Number.NaN }))).toEqual(['peak MB']);
  });

  test('are not asked of what an attack does not measure', () => {
    expect(missedFloors({ ...figures(1), waits: {} })).toEqual([]);
  });

  test('are compared with the median of the rounds, and with all failures', () => {
    const rounds = [
      figures(5_000, { statuses: { 200: 3 } }),
      figures(10, { failed: 2, statuses: { 200: 1, 503: 4 } }),
      figures(30, { peakMb: 5_000 }),
    ];
    const seen = medianFigures(rounds);
    expect(seen.waits['live, new']).toEqual({ p50: 1, p99: 30, longest: 30 });
    expect([seen.peakMb, seen.statuses]).toEqual([699.9, { 200: 4, 503: 4 }]);
    expect(missedFloors(seen)).toEqual(['failed']);
  });
});

test('each attack of npm run bench:fairness sends documents that the schema accepts', () => {
  const schema = buildSchema(readFileSync(resolve(import.meta.dirname, '../schema.graphql'), 'utf8'));
  const invalid = Object.entries(attacks).flatMap(([name, { request }]) => {
    const [head = '', body = ''] = String(request(1, 1)).split(/\r\n\r\n(.*)/s);
    // Bodies in chunks of one byte have a line for the length of each, and spaces after the first 100 bytes.
    const json = head.includes('chunked') ? body.slice(0, 600).replaceAll(/1\r\n(.)\r\n/g, '$1') : body;
    // A new connection without a request is an attack too.
    if (json === '') return [];
    return validate(schema, parse(JSON.parse(json).query)).map(({ message }) => `${name}: ${message}`);
  });
  expect(invalid).toEqual([]);
});

program(
  'npm run bench:soak meets all criteria that do not depend on the machine',
  async () => {
    const quick = ['--requests', '200', '--rate', '100', '--warm-up-ms', '500'];
    const { rows } = await run('bench/soak.ts', ...quick);
    const held = rows.filter((cells) => cells.at(-1) === 'held').map(([measure]) => measure);
    expect(held).toEqual(
      expect.arrayContaining([
        'answers with HTTP 500 or INTERNAL_SERVER_ERROR',
        'answers with a record of another tenant',
        'good requests whose answer was not right',
        'attacks that did not reach the server',
        'sockets that are still open',
        'warnings in the log before the attack',
        'listeners more than at the start',
        'lines of the log with a token',
        'warnings and errors of the process',
        'exit code on SIGTERM',
      ]),
    );
  },
  timeoutMs,
);

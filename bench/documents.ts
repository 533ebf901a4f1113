/**
 * `npm run bench:documents`: what a document of 100 labels costs. The CPU time of its process for four labels on a page,
 * beside a mere merge of the same labels. The waits of other requests meanwhile, and the memory afterwards. Reads all
 * barcodes back if `pdftoppm` and `zbarimg` are installed. Ends with exit code 1 if a measure is missed.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { neverAborted } from '../src/concurrency/cancellation.ts';
import type { LayoutName } from '../src/printing/layouts.ts';
import { createPdfMaker } from '../src/printing/pdf-maker.ts';
import { hasScanner, scan } from '../test/fixtures/barcode-programs.ts';
import { drawnLabel } from './documents/drawn-label.ts';
import { percentile } from './load.ts';
import { markdownTable } from './markdown-table.ts';
import { waybill } from './peers/servers.ts';
import { loadCore, runAsLoad, sharing, startNode, startServer } from './server-process.ts';

const { values: options } = parseArgs({
  options: {
    labels: { type: 'string', default: '100' },
    /** The documents that are measured, after three of a warm-up. */
    rounds: { type: 'string', default: '10' },
    /** The requests of another token beside the documents, and as many alone. */
    samples: { type: 'string', default: '2000' },
    'skip-scan': { type: 'boolean', default: false },
  },
});
const count = Number(options.labels);
const rounds = Number(options.rounds);
const samples = Number(options.samples);
const warmUps = 3;
const turns = 3;
const median = (values: number[]) => percentile(Float64Array.from(values).sort(), 0.5);
const mostTimesOfMerge = 10;
const mostTimesOfWait = 1.5;
const ids = Array.from({ length: count }, (_id, index) => `ca${1_000 + index}`);
const print = (text: string) => process.stdout.write(`${text}\n`);
const missed: string[] = [];

/** USER_HZ, which is 100 on every Linux that runs Node. */
const msPerTick = 10;

function cpuMs(child: ChildProcess | undefined): number {
  const fields = readFileSync(`/proc/${child?.pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

async function measureCpu(): Promise<void> {
  const processes: ChildProcess[] = [];
  const maker = createPdfMaker({ onProcess: (child) => processes.push(child) });
  const labels = await Promise.all(ids.map(drawnLabel));
  const make = (layout: LayoutName) =>
    maker.make({ form: { layout, startAt: 1 }, labels, summary: undefined }, neverAborted);

  async function cpuOf(layout: LayoutName): Promise<number> {
    for (let round = 0; round < warmUps; round += 1) await make(layout);
    const before = cpuMs(processes[0]);
    for (let round = 0; round < rounds; round += 1) await make(layout);
    return (cpuMs(processes[0]) - before) / rounds;
  }

  const merge = await cpuOf('AS_IS');
  const rows: string[][] = [];
  for (const layout of ['AS_IS', 'THERMAL_4X6_IN', 'A4_FOUR'] as const) {
    const cpu = layout === 'AS_IS' ? merge : await cpuOf(layout);
    if (cpu > mostTimesOfMerge * merge) missed.push(`${layout} takes ${(cpu / merge).toFixed(1)} merges`);
    const { file } = await make(layout);
    const bytes = file?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0;
    rows.push([layout, cpu.toFixed(0), (cpu / merge).toFixed(2), String(bytes)]);
  }
  print(markdownTable(['layout', 'CPU of the process, ms', 'times a merge', 'bytes'], rows));
  if (hasScanner && !options['skip-scan']) {
    const { file } = await make('A4_FOUR');
    const read = (await scan(Buffer.concat(file?.parts ?? []), 300)).flat().sort();
    const isRead = read.length === count && read.every((text, index) => text === ids[index]);
    print(`\nbarcodes that were read: ${read.length} of ${count}`);
    if (!isRead) missed.push('barcodes');
  }
  maker.close();
}

async function measureWaits(): Promise<void> {
  const rest = startNode([join(import.meta.dirname, 'documents', 'label-rest.ts'), ...ids], {
    core: loadCore,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The program sends its address first.
  const url = (await once(rest, 'message'))[0] as string;
  const server = await startServer(waybill, url);

  async function ask(bearer: string, query: string): Promise<number> {
    const startMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query }),
    });
    const { errors } = await response.json();
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return performance.now() - startMs;
  }

  /** The 99th percentile of requests, one each 4 ms. */
  async function p99(): Promise<number> {
    const waits: Promise<number>[] = [];
    for (let sample = 0; sample < samples; sample += 1) {
      waits.push(ask('other', '{ shipment(id: "ca1") { status } }'));
      await pause(4);
    }
    return percentile(Float64Array.from(await Promise.all(waits)).sort(), 0.99);
  }

  const document = `mutation { createLabelDocument(input: { shipments: ${JSON.stringify(ids)}, layout: A4_FOUR, expiresInMinutes: 1 }) { __typename } }`;
  for (let round = 0; round < warmUps; round += 1) await ask('printer', document);
  await p99();
  const memoryBefore = server.residentBytes();
  let made = 0;

  async function p99BesideDocuments(): Promise<number> {
    let isDone = false;
    const making = (async () => {
      for (; !isDone; made += 1) {
        await ask('printer', document);
        await pause(200);
      }
    })();
    const beside = await p99();
    isDone = true;
    await making;
    return beside;
  }

  // In turns, and by the median, because a machine is slower for seconds now and then.
  const alones: number[] = [];
  const besides: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    alones.push(await p99());
    besides.push(await p99BesideDocuments());
  }
  const alone = median(alones);
  const beside = median(besides);
  await pause(2_000);
  const memoryAfter = server.residentBytes();
  if (beside > mostTimesOfWait * alone) missed.push(`p99 is ${(beside / alone).toFixed(2)} times as long`);
  const mb = (bytes: number) => (bytes / 1_048_576).toFixed(0);
  print(
    `\n${markdownTable(
      ['p99 of others alone, ms', `beside ${made} documents, ms`, 'times', 'memory before, MB', 'after, MB'],
      [[alone.toFixed(1), beside.toFixed(1), (beside / alone).toFixed(2), mb(memoryBefore), mb(memoryAfter)]],
    )}`,
  );
  server.stop();
  rest.disconnect();
}

runAsLoad();
print(`${count} labels; ${sharing}\n`);
await measureCpu();
await measureWaits();
if (missed.length > 0) print(`\nmissed: ${missed.join('; ')}`);
process.exit(missed.length > 0 ? 1 : 0);

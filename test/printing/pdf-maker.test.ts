import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { CancelSource, neverAborted } from '../../src/concurrency/cancellation.ts';
import { PdfProcessError } from '../../src/printing/errors.ts';
import type { LayoutName } from '../../src/printing/layouts.ts';
import type { LabelResult } from '../../src/printing/pdf/compose.ts';
import { createPdfMaker, type PdfMaker } from '../../src/printing/pdf-maker.ts';
import { badLabels, endlessLabel, numerousLabel } from '../fixtures/bad-labels.ts';
import { labelKinds, largeLabel, plainLabel } from '../fixtures/label-files.ts';
import { until } from '../fixtures/rest-service.ts';

// A busy machine takes longer than the usual time of a label.
const shared = createPdfMaker({ labelMs: 100_000 });
afterAll(() => shared.close());

const inMm = (points: number) => Math.round((points * 254) / 72) / 10;

/** Makes a document, and reads it again. */
async function make(
  labels: readonly Uint8Array[],
  {
    layout = 'AS_IS',
    startAt = 1,
    summary,
    maker = shared,
  }: {
    layout?: LayoutName;
    startAt?: number;
    summary?: Parameters<PdfMaker['make']>[0]['summary'];
    maker?: PdfMaker;
  } = {},
): Promise<{ results: LabelResult[]; pages: number; document: PDFDocument | undefined }> {
  const { results, file } = await maker.make({ form: { layout, startAt }, labels, summary }, neverAborted);
  const document = file && (await PDFDocument.load(Buffer.concat(file.parts), { updateMetadata: false }));
  return { results, pages: file?.pages ?? 0, document };
}

const sizes = (document: PDFDocument | undefined) =>
  document?.getPages().map((page) => [inMm(page.getWidth()), inMm(page.getHeight())]);

const labels = await Promise.all(labelKinds.map(({ code, make }) => make(code)));

describe('a document of 13 labels, one of two pages', () => {
  test.each([
    ['THERMAL_4X6_IN', [101.6, 152.4], 14, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14]],
    ['A6', [105, 148], 14, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14]],
    ['A4_FOUR', [210, 297], 4, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4]],
    ['LETTER_FOUR', [215.9, 279.4], 4, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4]],
  ] as const)('has pages of exactly the size of the stock %s', async (layout, size, count, firstPages) => {
    const { results, pages, document } = await make(labels, { layout });
    expect(pages).toBe(count);
    expect(sizes(document)).toEqual(Array.from({ length: count }, () => size));
    expect(results).toEqual(firstPages.map((page) => ({ page })));
  });

  test('keeps the pages of the labels unchanged with AS_IS', async () => {
    const { results, document } = await make(labels);
    expect(results.map((result) => ('page' in result ? result.page : 0))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14,
    ]);
    expect(sizes(document)?.slice(0, 6)).toEqual([
      [100, 150],
      [101.6, 152.4],
      [210, 297],
      [150, 100],
      [60, 40],
      [150, 100],
    ]);
    expect(document?.getPages().map((page) => page.getRotation().angle)).toEqual([
      0, 0, 0, 0, 0, 90, 180, 270, 0, 0, 0, 0, 0, 0,
    ]);
    const crop = document?.getPage(8).getCropBox();
    expect([crop?.x, crop?.y, crop?.width, crop?.height].map((length = 0) => inMm(length))).toEqual([
      50, 100, 100, 150,
    ]);
  });

  test.each(['AS_IS', 'A4_FOUR'] as const)('asks viewers not to scale the pages: %s', async (layout) => {
    const { document } = await make(labels.slice(0, 1), { layout });
    const preferences = document?.catalog.getViewerPreferences();
    expect([preferences?.getPrintScaling(), preferences?.getPickTrayByPDFSize()]).toEqual(['None', true]);
  });
});

test('a used sheet is filled from its first free cell on', async () => {
  const { results } = await make(labels.slice(0, 3), { layout: 'A4_FOUR', startAt: 3 });
  expect(results).toEqual([{ page: 1 }, { page: 1 }, { page: 2 }]);
});

test('a label that is not readable takes no cell', async () => {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = labels;
  const { results, pages } = await make([first, Buffer.from('<html>'), second], { layout: 'THERMAL_4X6_IN' });
  expect(results).toEqual([{ page: 1 }, { problem: 'The file is not a PDF.' }, { page: 2 }]);
  expect(pages).toBe(2);
});

test('a document without a readable label is not made', async () => {
  const bad = Buffer.from('<html>');
  const { results, document } = await make([bad, bad], { layout: 'A6' });
  expect(results).toEqual([{ problem: 'The file is not a PDF.' }, { problem: 'The file is not a PDF.' }]);
  expect(document).toBeUndefined();
});

describe.each(badLabels)('$kind', ({ make: makeBad, message }) => {
  test.each(['AS_IS', 'A4_FOUR'] as const)('is unreadable and harms no other label: %s', async (layout) => {
    const label = await plainLabel('GOOD');
    const { results, pages } = await make([label, await makeBad(), label], { layout });
    expect(results[1]).toEqual({ problem: message });
    expect(results[2]).toEqual({ page: layout === 'AS_IS' ? 2 : 1 });
    expect(pages).toBe(layout === 'AS_IS' ? 2 : 1);
  });
});

describe('the summary', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_row, index) => ({
      id: `ca${1000 + index}`,
      courier: index % 3 === 0 ? 'rutandina' : 'mareazul',
      locality: 'Medellín (Laureles) 🎂',
    }));

  test('is one more page of the same stock, and gets the result of each label', async () => {
    const label = await plainLabel('GOOD');
    let given: readonly LabelResult[] = [];
    const { pages, document } = await make([label, Buffer.from('<html>')], {
      layout: 'THERMAL_4X6_IN',
      summary: (results) => {
        given = results;
        return rows(1);
      },
    });
    expect(given).toEqual([{ page: 1 }, { problem: 'The file is not a PDF.' }]);
    expect(pages).toBe(2);
    expect(sizes(document)).toEqual([
      [101.6, 152.4],
      [101.6, 152.4],
    ]);
  });

  test.each(['AS_IS', 'A6', 'A4_FOUR'] as const)('has 100 labels on one page: %s', async (layout) => {
    const { pages } = await make([await plainLabel('GOOD')], { layout, summary: () => rows(100) });
    expect(pages).toBe(2);
  });
});

describe('the process that makes documents', () => {
  function stage(idleMs?: number, labelMs?: number) {
    const processes: ChildProcess[] = [];
    const maker = createPdfMaker({ idleMs, labelMs, onProcess: (process) => processes.push(process) });
    return { maker, processes, [Symbol.dispose]: () => maker.close() };
  }

  test('makes all documents, and ends when it is idle', async () => {
    using started = stage(200);
    const { maker, processes } = started;
    const label = await plainLabel('GOOD');
    maker.prepare();
    const made = await Promise.all([make([label], { maker }), make([label, label], { maker })]);
    expect(made.map(({ pages }) => pages)).toEqual([1, 2]);
    expect(processes).toHaveLength(1);
    await until(() => processes[0]?.signalCode === 'SIGKILL');
    expect((await make([label], { maker })).pages).toBe(1);
    expect(processes).toHaveLength(2);
  });

  test('fails one document if it is killed, and restarts for the next document', async () => {
    using started = stage();
    const { maker, processes } = started;
    const label = await plainLabel('GOOD');
    const first = make(
      Array.from({ length: 100 }, () => label),
      { maker },
    );
    await until(() => processes.length === 1);
    const second = make([label], { maker });
    processes[0]?.kill('SIGKILL');
    await expect(first).rejects.toThrow(PdfProcessError);
    expect((await second).pages).toBe(1);
    expect(processes).toHaveLength(2);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('goes on after a %s, which is for its server', async (signal) => {
    using started = stage(undefined, 100_000);
    const { maker, processes } = started;
    const label = await plainLabel('GOOD');
    await make([label], { maker });
    const made = make(
      Array.from({ length: 30 }, () => label),
      { maker },
    );
    processes[0]?.once('message', () => processes[0]?.kill(signal));
    const { results, pages } = await made;
    expect([results.every((result) => 'page' in result), pages, processes.length]).toEqual([true, 30, 1]);
  });

  test('ends the wait for another document when the operation ends', async () => {
    using started = stage(undefined, 100_000);
    const { maker } = started;
    const composition = {
      form: { layout: 'A6', startAt: 1 },
      labels: [endlessLabel()],
      summary: undefined,
    } as const;
    const first = new CancelSource();
    const reading = maker.make(composition, first);
    const ended = new CancelSource();
    const waiting = maker.make(composition, ended);
    ended.abort(new Error('the operation ended'));
    await expect(waiting).rejects.toBe(ended.reason);
    first.abort(new Error('the first operation ended'));
    await expect(reading).rejects.toBe(first.reason);
    expect((await make([await plainLabel('GOOD')], { maker })).pages).toBe(1);
  });

  test('is killed if it uses more memory than its limit', async () => {
    using started = stage();
    const { maker, processes } = started;
    const large = await largeLabel('LARGE', 5_000_000);
    const made = make(
      Array.from({ length: 100 }, () => large),
      { maker },
    );
    await expect(made).rejects.toThrow(PdfProcessError);
    expect(processes[0]?.signalCode).toBe('SIGUSR2');
    expect((await make([await plainLabel('GOOD')], { maker })).pages).toBe(1);
    // Its priority is low, so it takes 20 times as long on a busy machine.
  }, 400_000);

  test.each([
    ['never ends', async () => endlessLabel()],
    ['takes all memory', numerousLabel],
  ])('leaves out a label that %s, and keeps the other labels', async (_what, makeBad) => {
    using started = stage(undefined, 3_000);
    const { maker, processes } = started;
    const label = await plainLabel('GOOD');
    const { results, pages } = await make([label, await makeBad(), label], { maker });
    const problem = 'The PDF needs too much time or memory to be read.';
    expect(results).toEqual([{ page: 1 }, { problem }, { page: 2 }]);
    expect([pages, processes.length]).toEqual([2, 2]);
  });

  test('fails the document at the second label that never ends', async () => {
    using started = stage(undefined, 1_000);
    const { maker, processes } = started;
    const made = make([endlessLabel(), endlessLabel()], { maker });
    await expect(made).rejects.toThrow(PdfProcessError);
    expect(processes).toHaveLength(2);
  });

  test('has at most one idle timer at a time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      using started = stage();
      const { maker } = started;
      maker.prepare();
      const ended = new CancelSource();
      ended.abort(new Error('the operation ended'));
      const composition = { form: { layout: 'A6', startAt: 1 }, labels: [], summary: undefined } as const;
      for (let round = 0; round < 3; round += 1)
        await expect(maker.make(composition, ended)).rejects.toBe(ended.reason);
      await setImmediate();
      expect(vi.getTimerCount()).toBe(1);
      maker.close();
      await expect(maker.make(composition, ended)).rejects.toBe(ended.reason);
      await setImmediate();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('ends with its server, even while it reads a label that never ends', async () => {
    const server = fork(new URL('../fixtures/killed-maker.ts', import.meta.url), { execArgv: [] });
    const [pid] = await once(server, 'message');
    const isRunning = () => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    expect(isRunning()).toBe(true);
    server.kill('SIGKILL');
    await until(() => !isRunning());
  });

  test('accepts labels of 32 MiB in total', async () => {
    using started = stage();
    const { maker, processes } = started;
    const large = await largeLabel('LARGE', 5_200_000);
    const { results, pages } = await make(
      Array.from({ length: 6 }, () => large),
      { maker, layout: 'A4_FOUR' },
    );
    expect([results.filter((result) => 'page' in result).length, pages]).toEqual([6, 2]);
    expect(processes).toHaveLength(1);
  });

  test('is killed when the operation of its document ends', async () => {
    using started = stage();
    const { maker, processes } = started;
    const label = await plainLabel('GOOD');
    const signal = new CancelSource();
    const composition = {
      form: { layout: 'A6', startAt: 1 } as const,
      labels: Array.from({ length: 100 }, () => label),
      summary: undefined,
    };
    const made = maker.make(composition, signal);
    await until(() => processes.length === 1);
    const reason = new Error('the operation ended');
    signal.abort(reason);
    await expect(made).rejects.toBe(reason);
    const [killed] = processes;
    if (killed?.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
    expect(killed?.signalCode).toBe('SIGKILL');
  });

  test('gets no variable of the environment', async () => {
    using started = stage();
    const { maker, processes } = started;
    await make([await plainLabel('GOOD')], { maker });
    const { readFile } = await import('node:fs/promises');
    const environment = await readFile(`/proc/${processes[0]?.pid}/environ`, 'utf8');
    expect(
      environment.split('\0').filter((entry) => entry !== '' && !entry.startsWith('NODE_CHANNEL')),
    ).toEqual([]);
  });
});

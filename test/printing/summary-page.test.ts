import { createHash } from 'node:crypto';
import {
  decodePDFRawStream,
  PDFArray,
  PDFDocument,
  type PDFPage,
  PDFRawStream,
  PDFRef,
  StandardFonts,
} from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { neverAborted } from '../../src/concurrency/cancellation.ts';
import type { LayoutName } from '../../src/printing/layouts.ts';
import type { SummaryRow } from '../../src/printing/pdf/summary-page.ts';
import { createPdfMaker } from '../../src/printing/pdf-maker.ts';
import { labelKinds, plainLabel } from '../fixtures/label-files.ts';

// A busy machine takes longer than the usual time of a label.
const maker = createPdfMaker({ labelMs: 100_000 });
afterAll(() => maker.close());

const fonts = await PDFDocument.create();
const regular = await fonts.embedFont(StandardFonts.Helvetica);
const bold = await fonts.embedFont(StandardFonts.HelveticaBold);

const drawnLine =
  /\/(?<font>Helvetica(?:-Bold)?)-\d+ (?<size>[\d.]+) Tf[^<]*\n1 0 0 1 (?<left>[\d.]+) [\d.-]+ Tm\n<(?<hex>[0-9A-F]*)> Tj/g;

const allLayouts = ['AS_IS', 'THERMAL_4X6_IN', 'A6', 'A4_FOUR', 'LETTER_FOUR'] as const;
const bogota = 'Bogotá, Distrito Capital';

const uuid = (index: number) =>
  createHash('sha256')
    .update(String(index))
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');

const rowsOf = (count: number, couriers: readonly string[], idOf = uuid, locality = bogota): SummaryRow[] =>
  Array.from({ length: count }, (_row, index) => ({
    id: idOf(index),
    courier: couriers[index % couriers.length] ?? '',
    locality,
  }));

/** Makes a document of a label with a summary, and reads the lines of its last page. */
async function summaryOf(layout: LayoutName, summary: SummaryRow[], label?: Uint8Array) {
  const labels = [label ?? (await plainLabel('GOOD'))];
  const composition = { form: { layout, startAt: 1 }, labels, summary: () => summary };
  const { file } = await maker.make(composition, neverAborted);
  expect(file?.pages).toBe(2);
  const document = await PDFDocument.load(Buffer.concat(file?.parts ?? []), { updateMetadata: false });
  const page = document.getPage(1);
  const lines = [...contentOf(page).matchAll(drawnLine)].map(({ groups = {} }) => ({
    font: groups.font === 'Helvetica' ? regular : bold,
    size: Number(groups.size),
    left: Number(groups.left),
    text: new TextDecoder('windows-1252').decode(Buffer.from(groups.hex ?? '', 'hex')),
  }));
  const columns = [...new Set(lines.map(({ left }) => left)), page.getWidth() - 18];
  return {
    size: lines[0]?.size,
    texts: lines.map(({ text }) => text),
    /** Those that reach into the next column, or into the margin. */
    tooWide: lines.filter(
      ({ font, size, left, text }) =>
        left + font.widthOfTextAtSize(text, size) > (columns[columns.indexOf(left) + 1] ?? 0),
    ),
  };
}

function contentOf({ node }: PDFPage): string {
  const contents = node.Contents();
  return (contents instanceof PDFArray ? contents.asArray() : [contents])
    .map((stream) => (stream instanceof PDFRef ? node.context.lookup(stream) : stream))
    .filter((stream) => stream instanceof PDFRawStream)
    .map((stream) => Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1'))
    .join('\n');
}

/** The lines of a summary without any cut. */
const wholeLines = (rows: readonly SummaryRow[]) =>
  [...Map.groupBy(rows, ({ courier }) => courier)].flatMap(([courier, ofCourier]) => [
    `${courier}: ${ofCourier.length} label${ofCourier.length === 1 ? '' : 's'}`,
    ...ofCourier.map(({ id, locality }) => `${id}  ${locality}`),
  ]);

describe.each(allLayouts)('the summary with %s', (layout) => {
  test.each([
    ['one label', rowsOf(1, ['rutandina'])],
    ['20 labels with UUIDs', rowsOf(20, ['rutandina'])],
    ['30 labels with UUIDs of two couriers', rowsOf(30, ['interrapidisimo', 'rutandina'])],
    ['100 labels with UUIDs of two couriers', rowsOf(100, ['interrapidisimo', 'rutandina'])],
    ['100 labels with short ids', rowsOf(100, ['interrapidisimo'], (index) => uuid(index).slice(0, 10))],
    ['a courier of 60 letters', rowsOf(30, [`transportadora-${'nacional-'.repeat(5)}`, 'rutandina'])],
    [
      'a long locality',
      rowsOf(10, ['rutandina'], uuid, 'San Juan de Río Seco, Cundinamarca, vereda El Fical'),
    ],
  ])('has whole lines for %s', async (_what, rows) => {
    const { texts, tooWide } = await summaryOf(layout, rows);
    expect(texts).toEqual(wholeLines(rows));
    expect(tooWide).toEqual([]);
  });

  test('keeps the count and the end of a courier that is wider than the page', async () => {
    const rows = rowsOf(100, [`first-${'x'.repeat(10_000)}-last`, 'rutandina']);
    const { texts, tooWide } = await summaryOf(layout, rows);
    expect(tooWide).toEqual([]);
    expect(texts[0]).toMatch(/^first-x+…x+-last: 50 labels$/);
    expect(texts.slice(1)).toEqual(wholeLines(rows).slice(1));
  });
});

test('many labels on a small page keep both ends of their ids, and the count', async () => {
  // 60 × 40 mm.
  const small = labelKinds.find(({ kind }) => kind === 'small');
  const rows = rowsOf(40, ['interrapidisimo']);
  const { texts, tooWide } = await summaryOf('AS_IS', rows, await small?.make('SMALL'));
  expect(tooWide).toEqual([]);
  expect(texts[0]).toMatch(/: 40 labels$/);
  for (const [index, { id }] of rows.entries())
    expect(texts[index + 1]).toMatch(new RegExp(`^${id.slice(0, 5)}…${id.slice(-6)}  Bog`));
});

test.each([3, 20, 40])('a page of %i points has a line for each label', async (length) => {
  const tiny = await PDFDocument.create();
  tiny.addPage([length, length]).drawText('tiny');
  const rows = rowsOf(2, ['rutandina']);
  expect((await summaryOf('AS_IS', rows, await tiny.save())).texts).toHaveLength(3);
});

test('few labels have large letters, and more labels smaller ones', async () => {
  const sizes = await Promise.all(
    [2, 20, 30, 100].map(
      async (count) => (await summaryOf('THERMAL_4X6_IN', rowsOf(count, ['rutandina']))).size,
    ),
  );
  expect(sizes).toEqual([8, 8, 8, 4]);
});

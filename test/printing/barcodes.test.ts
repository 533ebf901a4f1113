import { afterAll, describe, expect, test } from 'vitest';
import { neverAborted } from '../../src/concurrency/cancellation.ts';
import { createPdfMaker } from '../../src/printing/pdf-maker.ts';
import { hasScanner, scan } from '../fixtures/barcode-programs.ts';
import { labelKinds } from '../fixtures/label-files.ts';

const thermalDpi = 203;
const sheetDpi = 300;

describe.runIf(hasScanner)('barcodes are as readable in a document as in the label alone', async () => {
  // A busy machine takes longer than the usual time of a label.
  const maker = createPdfMaker({ labelMs: 100_000 });
  afterAll(() => maker.close());
  const labels = await Promise.all(labelKinds.map(({ code, make }) => make(code)));
  const scanAll = (dpi: number) => Promise.all(labels.map((label) => scan(label, dpi)));
  const scans = new Map<number, Promise<string[][][]>>();
  function alone(dpi: number): Promise<string[][][]> {
    const scanned = scans.get(dpi) ?? scanAll(dpi);
    scans.set(dpi, scanned);
    return scanned;
  }

  test.each([
    ['AS_IS', thermalDpi],
    ['THERMAL_4X6_IN', thermalDpi],
    ['A6', sheetDpi],
    ['A4_FOUR', sheetDpi],
    ['LETTER_FOUR', sheetDpi],
  ] as const)('%s at %i dpi', async (layout, dpi) => {
    const form = { layout, startAt: 1 };
    const { results, file } = await maker.make({ form, labels, summary: undefined }, neverAborted);
    const pages = await scan(Buffer.concat(file?.parts ?? []), dpi);
    const expected = await alone(dpi);
    expect(expected.map(([first]) => first)).toEqual(labelKinds.map(({ code }) => [code]));
    for (const [index, result] of results.entries()) {
      const page = 'page' in result ? result.page : 0;
      expect(pages[page - 1]).toEqual(expect.arrayContaining(expected[index]?.[0] ?? []));
    }
    expect(pages.flat().sort()).toEqual(expected.flat(2).sort());
  });
});

import { ParseSpeeds, PDFDocument, type PDFPage, PDFRef, PrintScaling } from '@cantoo/pdf-lib';
import { type LayoutName, layouts } from '../layouts.ts';
import { withInflationLimit } from './bounded-streams.ts';
import { copyDrawings } from './page-drawing.ts';
import { readLabel, UnreadableLabelError } from './read-label.ts';
import { Sheets } from './sheet.ts';
import { addSummary, type SummaryRow } from './summary-page.ts';

export interface DocumentForm {
  layout: LayoutName;
  /** The first free cell, from 1 on. */
  startAt: number;
}

/** A label is on a page, from 1 on, or cannot be read, with the reason as a sentence. */
export type LabelResult = { page: number } | { problem: string };

/** The most bytes that the contents of one label may inflate to while they are copied. Reading inflated them once before. */
const maxInflatedBytes = 67_108_864;

/** What one label may add to the document: three times what a file may have. */
const maxAddedBytes = 16_777_216;
/** What an object takes in memory beside its bytes. With 20,000 small ones, the process is at half of its bound. */
const objectBytes = 3_072;

/** Makes a document of labels, one after the other. */
export async function createComposition({ layout, startAt }: DocumentForm) {
  const document = await PDFDocument.create({ updateMetadata: false });
  const { context } = document;
  const preferences = document.catalog.getOrCreateViewerPreferences();
  // Scaled to the page of a printer, barcodes are not readable any more.
  preferences.setPrintScaling(PrintScaling.None);
  preferences.setPickTrayByPDFSize(true);
  const stock = layouts[layout];
  const sheets = stock && new Sheets(document, stock, startAt - 1);

  /** What a label adds to the document before its pages are added: nothing else refers to it. */
  function* addedAfter(lastNumber: number): Iterable<PDFRef> {
    for (let number = lastNumber + 1; number <= context.largestObjectNumber; number += 1)
      yield PDFRef.of(number);
  }

  function expectFewBytes(lastNumber: number): void {
    let bytes = 0;
    for (const ref of addedAfter(lastNumber))
      bytes += (context.lookup(ref)?.sizeInBytes() ?? 0) + objectBytes;
    if (bytes > maxAddedBytes)
      throw new UnreadableLabelError(
        `The PDF needs more than ${maxAddedBytes / 1_048_576} MiB in a document.`,
      );
  }

  /** A label is added as a whole or not at all: nothing fails once its first page is added. */
  async function addLabel(bytes: Uint8Array): Promise<number> {
    const lastNumber = context.largestObjectNumber;
    try {
      const { source, leaves } = await readLabel(bytes);
      if (sheets !== undefined) {
        const label = await withInflationLimit(maxInflatedBytes, async () =>
          copyDrawings(source, leaves, document),
        );
        expectFewBytes(lastNumber);
        return sheets.add(label);
      }
      // Unlike a drawing of them, copied pages keep their boxes, their rotation and their annotations.
      const copies = await document.copyPages(source, [...leaves.keys()]);
      expectFewBytes(lastNumber);
      const page = document.getPageCount() + 1;
      for (const copy of copies) document.addPage(copy);
      return page;
    } catch (error) {
      for (const ref of addedAfter(lastNumber)) context.delete(ref);
      context.largestObjectNumber = lastNumber;
      throw error;
    }
  }

  return {
    async add(bytes: Uint8Array): Promise<LabelResult> {
      try {
        return { page: await addLabel(bytes) };
      } catch (error) {
        const isKnown = error instanceof UnreadableLabelError;
        return { problem: isKnown ? error.message : 'The PDF is damaged.' };
      }
    },
    /** @param summary the labels for a last page; undefined without one */
    async finish(summary: readonly SummaryRow[] | undefined): Promise<{ bytes: Uint8Array; pages: number }> {
      const page: PDFPage | undefined = document.getPages()[0];
      if (summary !== undefined && page !== undefined)
        await addSummary(document, stock ?? page.getSize(), summary);
      const pages = document.getPageCount();
      const bytes = await document.save({ objectsPerTick: ParseSpeeds.Fastest, addDefaultPage: false });
      return { bytes, pages };
    },
  };
}

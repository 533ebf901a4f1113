import { ParseSpeeds, PDFDocument, type PDFPage, PrintScaling } from '@cantoo/pdf-lib';
import { type LayoutName, layouts } from '../layouts.ts';
import { withInflationLimit } from './bounded-streams.ts';
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

/** The bytes that one page may inflate to again while it is drawn. */
const maxInflatedBytes = 67_108_864;

/** Makes a document of labels, one after the other. */
export async function createComposition({ layout, startAt }: DocumentForm) {
  const document = await PDFDocument.create({ updateMetadata: false });
  const preferences = document.catalog.getOrCreateViewerPreferences();
  // Scaled to the page of a printer, barcodes are not readable any more.
  preferences.setPrintScaling(PrintScaling.None);
  preferences.setPickTrayByPDFSize(true);
  const stock = layouts[layout];
  const sheets = stock && new Sheets(document, stock, startAt - 1);

  async function addPages({ source, leaves }: Awaited<ReturnType<typeof readLabel>>): Promise<number> {
    const page = document.getPageCount() + 1;
    if (sheets !== undefined) return sheets.add(source, leaves);
    // Unlike a drawing of them, copied pages keep their boxes, their rotation and their annotations.
    const copies = await document.copyPages(
      source,
      leaves.map((_leaf, index) => index),
    );
    for (const copy of copies) document.addPage(copy);
    return page;
  }

  return {
    async add(bytes: Uint8Array): Promise<LabelResult> {
      try {
        const label = await readLabel(bytes);
        return { page: await withInflationLimit(maxInflatedBytes, () => addPages(label)) };
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

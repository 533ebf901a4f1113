import {
  concatTransformationMatrix,
  drawObject,
  type PDFDocument,
  type PDFPage,
  popGraphicsState,
  pushGraphicsState,
} from '@cantoo/pdf-lib';
import type { Stock } from '../layouts.ts';
import type { PageDrawing } from './page-drawing.ts';
import { cellOf, place } from './placement.ts';

/** The cells of a document, which are filled one after the other. */
export class Sheets {
  readonly #document: PDFDocument;
  readonly #stock: Stock;
  #page: PDFPage | undefined;
  #nextCell: number;

  /** @param firstCell the first free cell of the first page, from 0 on */
  constructor(document: PDFDocument, stock: Stock, firstCell: number) {
    this.#document = document;
    this.#stock = stock;
    this.#nextCell = firstCell;
  }

  /** Draws a label. @returns the number of the page that its first page is on, from 1 on */
  add(label: readonly PageDrawing[]): number {
    let firstPage: number | undefined;
    for (const { visible, forms } of label) {
      const page = this.#pageForNext();
      firstPage ??= this.#document.getPageCount();
      const cell = cellOf(this.#stock, this.#nextCell);
      this.#nextCell += 1;
      page.pushOperators(pushGraphicsState(), concatTransformationMatrix(...place(visible, cell)));
      for (const { form, matrix } of forms)
        page.pushOperators(
          pushGraphicsState(),
          concatTransformationMatrix(...matrix),
          drawObject(page.node.newXObject('Label', form)),
          popGraphicsState(),
        );
      page.pushOperators(popGraphicsState());
    }
    return firstPage ?? this.#document.getPageCount();
  }

  #pageForNext(): PDFPage {
    const { width, height, columns, rows } = this.#stock;
    if (this.#nextCell === columns * rows) {
      this.#nextCell = 0;
      this.#page = undefined;
    }
    this.#page ??= this.#document.addPage([width, height]);
    return this.#page;
  }
}

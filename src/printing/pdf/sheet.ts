import { deflateSync } from 'node:zlib';
import {
  concatTransformationMatrix,
  decodePDFRawStream,
  drawObject,
  PDFArray,
  PDFContentStream,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  PDFObjectCopier,
  type PDFPage,
  type PDFPageLeaf,
  PDFRawStream,
  type PDFRef,
  PDFStream,
  popGraphicsState,
  pushGraphicsState,
} from '@cantoo/pdf-lib';
import type { Stock } from '../layouts.ts';
import { cellOf, place } from './placement.ts';
import { contentStreams, UnreadableLabelError, visiblePage } from './read-label.ts';

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

  /** Draws the pages of a label. @returns the number of the page that the first one is on, from 1 on */
  add({ context }: PDFDocument, leaves: readonly PDFPageLeaf[]): number {
    const copier = PDFObjectCopier.for(context, this.#document.context);
    // Before the first of them is drawn: a label is drawn as a whole or not at all.
    const parts = leaves.map((leaf) => ({ leaf, forms: formsOf(leaf, this.#document, copier) }));
    let firstPage: number | undefined;
    for (const { leaf, forms } of parts) {
      const page = this.#pageForNext();
      firstPage ??= this.#document.getPageCount();
      const cell = cellOf(this.#stock, this.#nextCell);
      this.#nextCell += 1;
      page.pushOperators(pushGraphicsState(), concatTransformationMatrix(...place(visiblePage(leaf), cell)));
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

type CellMatrix = [number, number, number, number, number, number];

/** A drawing in the units of its page. */
interface PlacedForm {
  form: PDFRef;
  matrix: CellMatrix;
}

const identity: CellMatrix = [1, 0, 0, 1, 0, 0];

/** The contents of a page and its annotations, which the library's own way to embed a page loses. */
function formsOf(leaf: PDFPageLeaf, document: PDFDocument, copier: PDFObjectCopier): PlacedForm[] {
  const streams = contentStreams(leaf) ?? [];
  const contents =
    streams.length === 0 ? [] : [{ form: contentsForm(leaf, streams, document, copier), matrix: identity }];
  const annotations =
    leaf
      .Annots()
      ?.asArray()
      .map((_entry, index) => leaf.Annots()?.lookup(index)) ?? [];
  return [
    ...contents,
    ...annotations.flatMap((annotation) => annotationForm(annotation, document, copier) ?? []),
  ];
}

/** The contents as they are, so that nothing is inflated and deflated again. Several streams become one. */
function contentsForm(
  leaf: PDFPageLeaf,
  streams: readonly PDFStream[],
  { context }: PDFDocument,
  copier: PDFObjectCopier,
): PDFRef {
  const { left, bottom, right, top } = visiblePage(leaf).box;
  const resources = leaf.Resources();
  const group = leaf.lookup(PDFName.of('Group'));
  const dict = context.obj({ Type: 'XObject', Subtype: 'Form', BBox: [left, bottom, right, top] });
  dict.set(PDFName.Resources, resources === undefined ? context.obj({}) : copier.copy(resources));
  if (group instanceof PDFDict) dict.set(PDFName.of('Group'), copier.copy(group));
  const [only] = streams;
  if (streams.length === 1 && only instanceof PDFRawStream) {
    for (const name of ['Filter', 'DecodeParms']) {
      const value = only.dict.get(PDFName.of(name));
      if (value !== undefined) dict.set(PDFName.of(name), copier.copy(value));
    }
    return context.register(PDFRawStream.of(dict, only.contents));
  }
  dict.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
  const parts = streams.flatMap((stream) => [decode(stream), Buffer.from('\n')]);
  return context.register(PDFRawStream.of(dict, deflateSync(Buffer.concat(parts))));
}

function decode(stream: PDFStream): Uint8Array {
  if (stream instanceof PDFRawStream) return decodePDFRawStream(stream).decode();
  if (stream instanceof PDFContentStream) return stream.getUnencodedContents();
  throw new UnreadableLabelError('The PDF is damaged.');
}

const hiddenFlag = 2;
const printFlag = 4;

/** The appearance of an annotation that is printed, such as a filled field: the rule of PDF 1.7, section 12.5.5. */
function annotationForm(
  annotation: unknown,
  { context }: PDFDocument,
  copier: PDFObjectCopier,
): PlacedForm | undefined {
  if (!(annotation instanceof PDFDict)) return undefined;
  const flags = annotation.lookupMaybe(PDFName.of('F'), PDFNumber)?.asNumber() ?? 0;
  if ((flags & printFlag) === 0 || (flags & hiddenFlag) !== 0) return undefined;
  const normal = annotation.lookupMaybe(PDFName.of('AP'), PDFDict)?.lookup(PDFName.of('N'));
  const state = annotation.lookup(PDFName.of('AS'));
  const appearance = normal instanceof PDFDict && state instanceof PDFName ? normal.lookup(state) : normal;
  if (!(appearance instanceof PDFStream)) return undefined;
  const [x1, y1, x2, y2] = numbers(annotation.lookupMaybe(PDFName.of('Rect'), PDFArray), [0, 0, 0, 0]);
  const box = numbers(appearance.dict.lookupMaybe(PDFName.of('BBox'), PDFArray), [0, 0, 1, 1]);
  const [a, b, c, d, e, f] = numbers(appearance.dict.lookupMaybe(PDFName.of('Matrix'), PDFArray), identity);
  const corners = [0, 2].flatMap((x) => [1, 3].map((y) => [box[x] ?? 0, box[y] ?? 0] as const));
  const xs = corners.map(([x, y]) => a * x + c * y + e);
  const ys = corners.map(([x, y]) => b * x + d * y + f);
  const [minX, minY] = [Math.min(...xs), Math.min(...ys)];
  const scaleX = Math.abs(x2 - x1) / (Math.max(...xs) - minX || 1);
  const scaleY = Math.abs(y2 - y1) / (Math.max(...ys) - minY || 1);
  const left = Math.min(x1, x2) - minX * scaleX;
  const bottom = Math.min(y1, y2) - minY * scaleY;
  const form = copier.copy(appearance);
  form.dict.set(PDFName.of('Subtype'), PDFName.of('Form'));
  return { form: context.register(form), matrix: [scaleX, 0, 0, scaleY, left, bottom] };
}

/** The numbers of an array, and those of `otherwise` where it has none. */
function numbers<Numbers extends [number, number, number, number, ...number[]]>(
  array: PDFArray | undefined,
  otherwise: Numbers,
): Numbers {
  const values = otherwise.map((value, index) => array?.lookupMaybe(index, PDFNumber)?.asNumber() ?? value);
  // As many numbers as `otherwise` has.
  return values as Numbers;
}

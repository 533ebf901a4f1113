import {
  EncryptedPDFError,
  ParseSpeeds,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFPageLeaf,
  PDFRawStream,
  PDFStream,
} from '@cantoo/pdf-lib';
import { counted } from '../../base/counted.ts';
import { InflationError, inflateForCheck, withInflationLimit } from './bounded-streams.ts';
import type { Box, VisiblePage } from './placement.ts';

/** A label has a few pages: itself, copies, and papers for the customs. */
const maxPages = 20;
/** More nodes than a tree of `maxPages` pages has. */
const maxNodes = 200;
/** A page of 4 × 6 inches at 600 dots per inch in colors has 26 MB. */
const maxInflatedBytes = 67_108_864;
const maxImagePixels = 100_000_000;
/** The bounds of a page in points, as in Acrobat. Beyond them, a label that is made to fit has no barcode to read. */
const minPagePoints = 3;
const maxPagePoints = 14_400;
/** How far from the ends of a file its marks may be, as in Acrobat. */
const markBytes = 1_024;

/** Why a label cannot be printed, as a sentence for the client. */
export class UnreadableLabelError extends Error {}

/** Reads the PDF of a label. @throws UnreadableLabelError */
export async function readLabel(bytes: Uint8Array): Promise<{ source: PDFDocument; leaves: PDFPageLeaf[] }> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.length === 0) throw new UnreadableLabelError('The file is empty.');
  if (!text.subarray(0, markBytes).includes('%PDF-'))
    throw new UnreadableLabelError('The file is not a PDF.');
  // The library would recover what it can of a cut file: a label without its barcode.
  if (!text.subarray(-markBytes).includes('%%EOF'))
    throw new UnreadableLabelError('The PDF is cut: its end is missing.');
  try {
    return await withInflationLimit(maxInflatedBytes, async () => {
      const source = await PDFDocument.load(bytes, {
        parseSpeed: ParseSpeeds.Fastest,
        updateMetadata: false,
      });
      const leaves = pagesOf(source);
      checkStreams(source);
      for (const leaf of leaves) checkPage(leaf);
      if (leaves.every(isBlank)) throw new UnreadableLabelError('The PDF has nothing on its pages.');
      return { source, leaves };
    });
  } catch (error) {
    throw toUnreadable(error);
  }
}

/** Any error of the library is one of its input. */
function toUnreadable(error: unknown): UnreadableLabelError {
  if (error instanceof UnreadableLabelError) return error;
  if (error instanceof InflationError)
    return new UnreadableLabelError(`The PDF inflates to more than ${maxInflatedBytes / 1_048_576} MiB.`);
  if (error instanceof EncryptedPDFError) return new UnreadableLabelError('The PDF is encrypted.');
  return new UnreadableLabelError('The PDF is damaged.', { cause: error });
}

/** The pages in order. The library's own walk has no bound, and a tree may have a circle. */
function pagesOf({ catalog }: PDFDocument): PDFPageLeaf[] {
  const leaves: PDFPageLeaf[] = [];
  let nodes = 0;
  function walk(node: PDFObject | undefined): void {
    nodes += 1;
    if (node instanceof PDFPageLeaf) leaves.push(node);
    if (leaves.length > maxPages || nodes > maxNodes)
      throw new UnreadableLabelError(
        `The PDF has more than ${counted(maxPages, 'page')}, too many for a label.`,
      );
    if (node instanceof PDFPageLeaf || !(node instanceof PDFDict)) return;
    const kids = node.lookupMaybe(PDFName.of('Kids'), PDFArray);
    for (let index = 0; index < (kids?.size() ?? 0); index += 1) walk(kids?.lookup(index));
  }
  walk(catalog.lookup(PDFName.of('Pages')));
  if (leaves.length === 0) throw new UnreadableLabelError('The PDF has no page.');
  return leaves;
}

/** @throws InflationError and UnreadableLabelError for what a viewer or a printer would have no memory for */
function checkStreams({ context }: PDFDocument): void {
  for (const [, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream)) continue;
    inflateForCheck(object);
    const size = (name: string) => object.dict.lookupMaybe(PDFName.of(name), PDFNumber)?.asNumber() ?? 0;
    if (size('Width') * size('Height') > maxImagePixels)
      throw new UnreadableLabelError('The PDF has an image of more than 100 megapixels.');
  }
}

/** @throws UnreadableLabelError for a page that lost its contents, or has no size to print */
function checkPage(leaf: PDFPageLeaf): void {
  const { box, unit } = visiblePage(leaf);
  const sides = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  if (!sides.every((points) => points >= minPagePoints && points <= maxPagePoints))
    throw new UnreadableLabelError(
      `The PDF has a page with a side of less than ${minPagePoints} or more than ${maxPagePoints} points.`,
    );
  const isLost = leaf.has(PDFName.Contents) && contentStreams(leaf) === undefined;
  if (isLost) throw new UnreadableLabelError('The PDF is damaged.');
}

function isBlank(leaf: PDFPageLeaf): boolean {
  return (contentStreams(leaf) ?? []).length === 0 && leaf.Annots() === undefined;
}

/** The streams of a page's contents. Undefined if one of them is missing. */
export function contentStreams(leaf: PDFPageLeaf): PDFStream[] | undefined {
  const contents = leaf.lookup(PDFName.Contents);
  const parts =
    contents instanceof PDFArray
      ? contents.asArray().map((_part, index) => contents.lookup(index))
      : contents === undefined && !leaf.has(PDFName.Contents)
        ? []
        : [contents];
  return parts.every((part) => part instanceof PDFStream) ? parts : undefined;
}

/** What a viewer shows of a page: the crop box within the media box, with its rotation and its unit. */
export function visiblePage(leaf: PDFPageLeaf): VisiblePage {
  const media = toBox(leaf.MediaBox());
  const cropBox = leaf.CropBox();
  const crop = cropBox === undefined ? media : toBox(cropBox);
  const shown = {
    left: Math.max(media.left, crop.left),
    bottom: Math.max(media.bottom, crop.bottom),
    right: Math.min(media.right, crop.right),
    top: Math.min(media.top, crop.top),
  };
  const isEmpty = shown.right <= shown.left || shown.top <= shown.bottom;
  const quarters = Math.round((leaf.Rotate()?.asNumber() ?? 0) / 90);
  const unit = leaf.lookupMaybe(PDFName.of('UserUnit'), PDFNumber)?.asNumber() ?? 1;
  return {
    box: isEmpty ? media : shown,
    rotation: (((quarters % 4) + 4) % 4) * 90,
    unit: unit > 0 ? unit : 1,
  };
}

function toBox(array: PDFArray): Box {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [0, 1, 2, 3].map((index) =>
    array.lookup(index, PDFNumber).asNumber(),
  );
  return {
    left: Math.min(x1, x2),
    bottom: Math.min(y1, y2),
    right: Math.max(x1, x2),
    top: Math.max(y1, y2),
  };
}

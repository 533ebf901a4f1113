import { deflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFContentStream,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  PDFObjectCopier,
  type PDFPageLeaf,
  PDFRawStream,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import type { VisiblePage } from './placement.ts';
import { contentStreams, UnreadableLabelError, visiblePage } from './read-label.ts';

type CellMatrix = [number, number, number, number, number, number];

/** A page of a label, as drawings in the units of the page. PDF calls a drawing that pages can refer to a form. */
export interface PageDrawing {
  visible: VisiblePage;
  forms: { form: PDFRef; matrix: CellMatrix }[];
}

const identity: CellMatrix = [1, 0, 0, 1, 0, 0];

/** What the pages of one label may draw, each time that they draw it. */
const maxDrawnBytes = 16_777_216;
/** What a drawing takes beside its bytes. */
const overheadBytes = 256;

const hiddenFlag = 2;
const printFlag = 4;

/**
 * Copies the pages of a label into a document, each shared object once: the contents, and the annotations that the
 * library's own way to embed a page loses. @throws UnreadableLabelError
 */
export function copyDrawings(
  source: PDFDocument,
  leaves: readonly PDFPageLeaf[],
  { context }: PDFDocument,
): PageDrawing[] {
  const copier = PDFObjectCopier.for(source.context, context);
  const noResources = source.context.obj({});
  const contents = new Map<string, { form: PDFRef; bytes: number }>();
  let drawnBytes = 0;

  /** @throws UnreadableLabelError if all drawings have too many bytes together */
  function countDrawn(bytes: number): void {
    drawnBytes += bytes + overheadBytes;
    if (drawnBytes > maxDrawnBytes)
      throw new UnreadableLabelError(
        `The pages of the PDF draw more than ${maxDrawnBytes / 1_048_576} MiB of content.`,
      );
  }

  /** The contents of a page as they are, so that nothing is inflated and deflated again. Several streams become one. */
  function contentsForm(leaf: PDFPageLeaf, streams: readonly PDFStream[]): PDFRef {
    const { left, bottom, right, top } = visiblePage(leaf).box;
    const resources = leaf.getInheritableAttribute(PDFName.Resources) ?? noResources;
    const group = leaf.get(PDFName.of('Group'));
    // As text, equal dictionaries of different pages are equal, and references are names.
    const key = [leaf.get(PDFName.Contents), resources, group, left, bottom, right, top].join();
    const known = contents.get(key);
    if (known !== undefined) {
      countDrawn(known.bytes);
      return known.form;
    }
    const dict = context.obj({ Type: 'XObject', Subtype: 'Form', BBox: [left, bottom, right, top] });
    dict.set(PDFName.Resources, copier.copy(resources));
    if (group !== undefined) dict.set(PDFName.of('Group'), copier.copy(group));
    const bytesBefore = drawnBytes;
    const form = context.register(PDFRawStream.of(dict, joined(streams, dict)));
    contents.set(key, { form, bytes: drawnBytes - bytesBefore });
    return form;
  }

  /** The bytes of a form. `dict` gets their filters. */
  function joined(streams: readonly PDFStream[], dict: PDFDict): Uint8Array {
    const [only] = streams;
    if (streams.length === 1 && only instanceof PDFRawStream) {
      countDrawn(only.contents.length);
      for (const name of ['Filter', 'DecodeParms']) {
        const value = only.dict.get(PDFName.of(name));
        if (value !== undefined) dict.set(PDFName.of(name), copier.copy(value));
      }
      return only.contents;
    }
    const parts: Uint8Array[] = [];
    for (const stream of streams) {
      const bytes = decode(stream);
      countDrawn(bytes.length);
      parts.push(bytes, Buffer.from('\n'));
    }
    dict.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
    return deflateSync(Buffer.concat(parts));
  }

  /** The appearance of an annotation that is printed, such as a filled field: the rule of PDF 1.7, section 12.5.5. */
  function annotationForm(annotation: unknown): PageDrawing['forms'][number] | undefined {
    if (!(annotation instanceof PDFDict)) return undefined;
    const flags = annotation.lookupMaybe(PDFName.of('F'), PDFNumber)?.asNumber() ?? 0;
    if ((flags & printFlag) === 0 || (flags & hiddenFlag) !== 0) return undefined;
    const appearances = annotation.lookupMaybe(PDFName.of('AP'), PDFDict);
    const normal = appearances?.lookup(PDFName.of('N'));
    const state = annotation.lookup(PDFName.of('AS'));
    const hasStates = normal instanceof PDFDict && state instanceof PDFName;
    const ref = hasStates ? normal.get(state) : appearances?.get(PDFName.of('N'));
    const appearance = ref instanceof PDFRef ? source.context.lookup(ref) : undefined;
    if (!(ref instanceof PDFRef) || !(appearance instanceof PDFStream)) return undefined;
    countDrawn(appearance.getContentsSize());
    const form = copier.copy(ref);
    const copy = context.lookup(form);
    if (copy instanceof PDFStream) copy.dict.set(PDFName.of('Subtype'), PDFName.of('Form'));
    return { form, matrix: appearanceMatrix(annotation, appearance) };
  }

  return leaves.map((leaf) => {
    const forms: PageDrawing['forms'] = [];
    const streams = contentStreams(leaf) ?? [];
    if (streams.length > 0) forms.push({ form: contentsForm(leaf, streams), matrix: identity });
    const annotations = leaf.Annots();
    for (let index = 0; index < (annotations?.size() ?? 0); index += 1) {
      const form = annotationForm(annotations?.lookup(index));
      if (form !== undefined) forms.push(form);
    }
    return { visible: visiblePage(leaf), forms };
  });
}

function decode(stream: PDFStream): Uint8Array {
  if (stream instanceof PDFRawStream) return decodePDFRawStream(stream).decode();
  if (stream instanceof PDFContentStream) return stream.getUnencodedContents();
  throw new UnreadableLabelError('The PDF is damaged.');
}

/** Moves the box of an appearance into the rectangle of its annotation. */
function appearanceMatrix(annotation: PDFDict, appearance: PDFStream): CellMatrix {
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
  return [scaleX, 0, 0, scaleY, left, bottom];
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

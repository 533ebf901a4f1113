import { randomBytes } from 'node:crypto';
import { PDFArray, PDFDocument, PDFName, type PDFPage, PDFRawStream } from '@cantoo/pdf-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { neverAborted } from '../../src/concurrency/cancellation.ts';
import { createPdfMaker } from '../../src/printing/pdf-maker.ts';
import { plainLabel } from '../fixtures/label-files.ts';

// A busy machine takes longer than the usual time of a label.
const maker = createPdfMaker({ labelMs: 100_000 });
afterAll(() => maker.close());

const kib = 1_024;

/** Makes a document of a label between two others, and reads how the label fared and what the document takes. */
async function make(label: Uint8Array, layout: 'AS_IS' | 'A4_FOUR' = 'A4_FOUR') {
  const good = await plainLabel('GOOD');
  const composition = { form: { layout, startAt: 1 }, labels: [good, label, good], summary: undefined };
  const { results, file } = await maker.make(composition, neverAborted);
  expect([results[0], results[2]]).toEqual([{ page: expect.anything() }, { page: expect.anything() }]);
  return { result: results[1], bytes: file?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0 };
}

/** A comment that nothing makes smaller. */
const comment = (bytes: number) => Buffer.from(`%${randomBytes(bytes / 2).toString('hex')}\n`);

/** A label of a number of pages that `change` draws. */
async function labelOf(pages: number, change: (page: PDFPage, document: PDFDocument, index: number) => void) {
  const document = await PDFDocument.create({ updateMetadata: false });
  for (let index = 0; index < pages; index += 1) {
    const page = document.addPage([100, 100]);
    change(page, document, index);
    if (!page.node.has(PDFName.Contents)) page.drawText(`page ${index}`);
  }
  return document.save({ useObjectStreams: false });
}

/** An object that the pages of a label share: made once. */
function once<Value>(create: (document: PDFDocument) => Value) {
  let value: Value | undefined;
  return (document: PDFDocument): Value => {
    value ??= create(document);
    return value;
  };
}

const streamOf = (bytes: number) =>
  once(({ context }) => context.register(PDFRawStream.of(context.obj({}), comment(bytes))));

/** The contents of all pages are one stream, a number of times. */
const sharedContents = (pages: number, bytes: number, times = 1) => {
  const stream = streamOf(bytes);
  return labelOf(pages, ({ node }, document) =>
    node.set(
      PDFName.Contents,
      times === 1 ? stream(document) : document.context.obj(Array(times).fill(stream(document))),
    ),
  );
};

/** Each page has a number of annotations that share one appearance. */
const sharedAppearance = (pages: number, bytes: number, times: number) => {
  const annotation = once(({ context }) => {
    const dict = context.obj({ Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 9, 9] });
    const form = context.register(PDFRawStream.of(dict, comment(bytes)));
    return context.register(
      context.obj({ Type: 'Annot', Subtype: 'Stamp', F: 4, Rect: [0, 0, 9, 9], AP: { N: form } }),
    );
  });
  return labelOf(pages, ({ node }, document) =>
    node.set(PDFName.of('Annots'), document.context.obj(Array(times).fill(annotation(document)))),
  );
};

/** All pages inherit resources that are no object of their own. */
const sharedResources = async (pages: number, bytes: number) => {
  const document = await PDFDocument.load(await labelOf(pages, () => {}));
  const { context, catalog } = document;
  const resources = context.obj({ Note: PDFName.of(randomBytes(bytes / 2).toString('hex')) });
  catalog.Pages().set(PDFName.Resources, resources);
  for (const page of document.getPages()) page.node.delete(PDFName.Resources);
  return document.save({ useObjectStreams: false });
};

test.each([
  ['contents', () => sharedContents(20, 500 * kib)],
  ['several contents', () => sharedContents(10, 400 * kib, 2)],
  ['an appearance', () => sharedAppearance(5, 400 * kib, 4)],
])('objects that the pages of a label share are in the document once: %s', async (_what, label) => {
  const { result, bytes } = await make(await label());
  expect(result).toEqual({ page: 1 });
  // An object, with what two other labels take.
  expect(bytes).toBeLessThan(900 * kib);
});

describe('a small label that would draw too much', () => {
  test.each([
    ['large contents on many pages', () => sharedContents(20, 1_000 * kib)],
    ['contents many times', () => sharedContents(1, 1_000 * kib, 100)],
    ['tiny contents very often', () => sharedContents(1, 10, 300_000)],
    ['an appearance many times', () => sharedAppearance(2, 100 * kib, 100)],
    ['a tiny appearance very often', () => sharedAppearance(1, 10, 200_000)],
  ])('is unreadable, and adds nothing to the document: %s', async (_what, label) => {
    const { result, bytes } = await make(await label());
    expect(result).toEqual({ problem: 'The pages of the PDF draw more than 16 MiB of content.' });
    expect(bytes).toBeLessThan(20 * kib);
  });

  test.each(['AS_IS', 'A4_FOUR'] as const)('is unreadable with large inherited parts: %s', async (layout) => {
    const { result, bytes } = await make(await sharedResources(20, 1_000 * kib), layout);
    expect(result).toEqual({ problem: 'The PDF needs more than 16 MiB in a document.' });
    expect(bytes).toBeLessThan(20 * kib);
  });
});

test.each(['AS_IS', 'A4_FOUR'] as const)('a label of 10,000 objects is unreadable: %s', async (layout) => {
  const label = await labelOf(1, ({ node }, { context }) => {
    const notes = Array.from({ length: 10_000 }, () => context.register(context.obj([])));
    node.set(PDFName.Resources, context.obj({ Notes: notes }));
  });
  const { result } = await make(label, layout);
  expect(result).toEqual({ problem: 'The PDF needs more than 16 MiB in a document.' });
});

test('a label that fails leaves nothing in the document', async () => {
  const label = await labelOf(2, ({ node }, { context }, index) => {
    const image = PDFRawStream.of(context.obj({ Subtype: 'Image' }), randomBytes(500 * kib));
    node.newXObject('Image', context.register(image));
    const rectangle = index === 0 ? [0, 0, 9, 9] : ['no number'];
    const annotation = context.obj({ Subtype: 'Stamp', F: 4, Rect: rectangle });
    const form = context.register(PDFRawStream.of(context.obj({}), comment(100)));
    annotation.set(PDFName.of('AP'), context.obj({ N: form }));
    node.set(PDFName.of('Annots'), PDFArray.withContext(context));
    node.addAnnot(context.register(annotation));
  });
  const { result, bytes } = await make(label);
  expect(result).toEqual({ problem: 'The PDF is damaged.' });
  expect(bytes).toBeLessThan(20 * kib);
});

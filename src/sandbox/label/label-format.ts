import {
  concatTransformationMatrix,
  degrees,
  type PDFPage,
  popGraphicsState,
  pushGraphicsState,
} from '@cantoo/pdf-lib';
import { pageHeight, pageWidth } from './label-canvas.ts';

/** How a courier lays out the label, which is drawn on a page of `pageWidth` and `pageHeight`. */
export interface LabelFormat {
  /** The size of a page as a person sees it, in points. */
  width: number;
  height: number;
  /** Whether the page is stored on its side, with a rotation for viewers. */
  isSideways: boolean;
  /** The headings of the pages. */
  pages: readonly string[];
}

const pointsPerMm = 72 / 25.4;
const heading = 'Guía de transporte';

const format = (widthMm: number, heightMm: number, others: Partial<LabelFormat> = {}): LabelFormat => ({
  width: widthMm * pointsPerMm,
  height: heightMm * pointsPerMm,
  isSideways: false,
  pages: [heading],
  ...others,
});

const usual = format(100, 150);

const formats: Readonly<Record<string, LabelFormat>> = {
  'couriers/rutandina': format(101.6, 152.4),
  'couriers/chasqui-carga': format(100, 150, { pages: [heading, 'Copia del cliente'] }),
  'couriers/tierra-firme': format(105, 148),
  'couriers/tres-cordilleras': format(100, 150, { isSideways: true }),
  'couriers/mareazul': format(148, 210),
  'couriers/colibri-urbano': format(80, 120),
};

/** The format of a courier's labels. */
export function formatOf(courier: string): LabelFormat {
  return formats[courier] ?? usual;
}

/** Gives a page its size, and lets `draw` draw the label as large as the page allows, in its middle. */
export function drawInFormat(
  page: PDFPage,
  { width, height, isSideways }: LabelFormat,
  draw: () => void,
): void {
  page.setSize(...(isSideways ? ([height, width] as const) : ([width, height] as const)));
  if (width === pageWidth && height === pageHeight && !isSideways) {
    draw();
    return;
  }
  page.pushOperators(pushGraphicsState());
  if (isSideways) {
    // Viewers turn the page to the right, so the drawing is turned to the left.
    page.setRotation(degrees(90));
    page.pushOperators(concatTransformationMatrix(0, 1, -1, 0, height, 0));
  }
  const scale = Math.min(width / pageWidth, height / pageHeight);
  const left = (width - pageWidth * scale) / 2;
  const bottom = (height - pageHeight * scale) / 2;
  page.pushOperators(concatTransformationMatrix(scale, 0, 0, scale, left, bottom));
  draw();
  page.pushOperators(popGraphicsState());
}

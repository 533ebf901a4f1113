import { expect, test } from 'vitest';
import { layouts } from '../../src/printing/layouts.ts';
import { type Box, cellOf, place, type VisiblePage } from '../../src/printing/pdf/placement.ts';

const mm = (points: number) => Math.round((points * 254) / 72) / 10;
const points = (mm: number) => (mm * 72) / 25.4;

const boxOf = (width: number, height: number, left = 0, bottom = 0): Box => ({
  left: points(left),
  bottom: points(bottom),
  right: points(left + width),
  top: points(bottom + height),
});

const page = (box: Box, others: Partial<VisiblePage> = {}): VisiblePage => ({
  box,
  rotation: 0,
  unit: 1,
  ...others,
});

/** Where the box of a page lands, in mm from the bottom left: left, bottom, width and height. */
function landing(visible: VisiblePage, cell: Box): number[] {
  const [a, b, c, d, e, f] = place(visible, cell);
  const { left, bottom, right, top } = visible.box;
  const corners = [left, right].flatMap((x) =>
    [bottom, top].map((y) => [a * x + c * y + e, b * x + d * y + f]),
  );
  const xs = corners.map(([x = 0]) => x);
  const ys = corners.map(([, y = 0]) => y);
  const [minX, minY] = [Math.min(...xs), Math.min(...ys)];
  return [minX, minY, Math.max(...xs) - minX, Math.max(...ys) - minY].map(mm);
}

/** Where the bottom left and the bottom right corner of a page land, in mm. */
function corners(visible: VisiblePage, cell: Box): number[][] {
  const [a, b, c, d, e, f] = place(visible, cell);
  const { left, bottom, right } = visible.box;
  return [left, right].map((x) => [a * x + c * bottom + e, b * x + d * bottom + f].map(mm));
}

test('the stocks have their sizes to a tenth of a millimetre', () => {
  const sizes = Object.entries(layouts).map(([name, stock]) => [
    name,
    stock && [stock.width, stock.height].map(mm),
  ]);
  expect(Object.fromEntries(sizes)).toEqual({
    AS_IS: undefined,
    THERMAL_4X6_IN: [101.6, 152.4],
    A6: [105, 148],
    A4_FOUR: [210, 297],
    LETTER_FOUR: [215.9, 279.4],
  });
});

test('the cells of A4 run from left to right and from top to bottom', () => {
  const cells = [0, 1, 2, 3].map((index) => {
    const { left, bottom, right, top } = cellOf(layouts.A4_FOUR, index);
    return [left, bottom, right, top].map(mm);
  });
  expect(cells).toEqual([
    [0, 148.5, 105, 297],
    [105, 148.5, 210, 297],
    [0, 0, 105, 148.5],
    [105, 0, 210, 148.5],
  ]);
});

const thermal = boxOf(101.6, 152.4);

test('a label that fits keeps its size, in the middle of its cell', () => {
  expect(landing(page(boxOf(100, 150)), thermal)).toEqual([0.8, 1.2, 100, 150]);
  expect(landing(page(boxOf(50, 30)), thermal)).toEqual([25.8, 61.2, 50, 30]);
});

test('a label that does not fit is scaled down just enough to fit', () => {
  expect(landing(page(boxOf(210, 297)), boxOf(105, 148.5))).toEqual([0, 0, 105, 148.5]);
  expect(landing(page(boxOf(100, 200)), boxOf(100, 150))).toEqual([12.5, 0, 75, 150]);
});

test('a label is turned only if the turn makes it larger', () => {
  expect(landing(page(boxOf(150, 100)), thermal)).toEqual([0.8, 1.2, 100, 150]);
  expect(landing(page(boxOf(90, 60)), thermal)).toEqual([5.8, 46.2, 90, 60]);
});

test('a label is placed by the box that a viewer shows', () => {
  expect(landing(page(boxOf(100, 150, 55, 77)), thermal)).toEqual([0.8, 1.2, 100, 150]);
  expect(landing(page(boxOf(100, 150, -300, -10)), thermal)).toEqual([0.8, 1.2, 100, 150]);
});

test('a unit of several points makes a page larger', () => {
  expect(landing(page(boxOf(50, 75), { unit: 2 }), thermal)).toEqual([0.8, 1.2, 100, 150]);
});

// The corner that a rotated page shows at the bottom left is another one of the stored page.
test.each([
  [
    0,
    boxOf(100, 150),
    [
      [0, 0],
      [100, 0],
    ],
  ],
  [
    90,
    boxOf(150, 100),
    [
      [0, 150],
      [0, 0],
    ],
  ],
  [
    180,
    boxOf(100, 150),
    [
      [100, 150],
      [0, 150],
    ],
  ],
  [
    270,
    boxOf(150, 100),
    [
      [100, 0],
      [100, 150],
    ],
  ],
])('a page with /Rotate %i is upright', (rotation, box, expected) => {
  expect(corners(page(box, { rotation }), boxOf(100, 150))).toEqual(expected);
});

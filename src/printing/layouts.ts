const pointsPerMm = 72 / 25.4;
const pointsPerInch = 72;

/** The paper of a document: the size of its pages in points, and its cells, which fill the page. */
export interface Stock {
  width: number;
  height: number;
  columns: number;
  rows: number;
}

const stock = (width: number, height: number, columns = 1, rows = 1): Stock => ({
  width,
  height,
  columns,
  rows,
});

/** The layouts by name. Undefined: each page of a label stays a page of its own. */
export const layouts = {
  AS_IS: undefined,
  THERMAL_4X6_IN: stock(4 * pointsPerInch, 6 * pointsPerInch),
  A6: stock(105 * pointsPerMm, 148 * pointsPerMm),
  A4_FOUR: stock(210 * pointsPerMm, 297 * pointsPerMm, 2, 2),
  LETTER_FOUR: stock(8.5 * pointsPerInch, 11 * pointsPerInch, 2, 2),
} as const satisfies Record<string, Stock | undefined>;

export type LayoutName = keyof typeof layouts;

/** The number of labels on a page. */
export function cellsOf(layout: LayoutName): number {
  const { columns, rows } = layouts[layout] ?? { columns: 1, rows: 1 };
  return columns * rows;
}

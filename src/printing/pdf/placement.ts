import type { Stock } from '../layouts.ts';

/** A rectangle by its corners, in points or in units of a page, from the bottom left. */
export interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** What a viewer shows of a page. */
export interface VisiblePage {
  /** The part that is shown, in units of the page. */
  box: Box;
  /** The degrees of `/Rotate`: 0, 90, 180 or 270, clockwise. */
  rotation: number;
  /** Points for each unit of the page. */
  unit: number;
}

/** The numbers of PDF's operator `cm`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** For scales that are equal but for their last digits. */
const tolerance = 1e-6;

/** The cell of a number from 0 on, from left to right and from top to bottom. */
export function cellOf({ width, height, columns, rows }: Stock, index: number): Box {
  const cellWidth = width / columns;
  const cellHeight = height / rows;
  const left = (index % columns) * cellWidth;
  const top = height - Math.floor(index / columns) * cellHeight;
  return { left, bottom: top - cellHeight, right: left + cellWidth, top };
}

/**
 * Where a page of a label goes: into the middle of its cell, upright or turned, whichever is larger there. It is never
 * enlarged, and made smaller only as far as it must be to fit.
 */
export function place({ box, rotation, unit }: VisiblePage, cell: Box): Matrix {
  const isSideways = rotation % 180 !== 0;
  const [across, up] = [(box.right - box.left) * unit, (box.top - box.bottom) * unit];
  const [width, height] = isSideways ? [up, across] : [across, up];
  const room = { width: cell.right - cell.left, height: cell.top - cell.bottom };
  const upright = Math.min(1, room.width / width, room.height / height);
  const turned = Math.min(1, room.width / height, room.height / width);
  const isTurned = turned > upright + tolerance;
  const scale = isTurned ? turned : upright;
  const size = isTurned ? { width: height, height: width } : { width, height };
  const left = cell.left + (room.width - size.width * scale) / 2;
  const bottom = cell.bottom + (room.height - size.height * scale) / 2;
  const [a, b, c, d, e, f] = toOrigin(box, (rotation + (isTurned ? 90 : 0)) % 360);
  const k = scale * unit;
  return [a * k, b * k, c * k, d * k, e * k + left, f * k + bottom];
}

/** Turns a box clockwise, and moves its bottom left corner to the origin. */
function toOrigin({ left, bottom, right, top }: Box, degrees: number): Matrix {
  switch (degrees) {
    case 90:
      return [0, -1, 1, 0, -bottom, right];
    case 180:
      return [-1, 0, 0, -1, right, top];
    case 270:
      return [0, 1, -1, 0, top, -left];
    default:
      return [1, 0, 0, 1, -left, -bottom];
  }
}

import { type Check, ok, open, textIn, toListPage, warning } from '../examination.ts';

/** Whether the `updateTime` of a shipment moves with its status, which `updatedSince` needs ("Shipment"). */
export const updateTime: Check = async (examination) => {
  const earlier = new Map(
    examination.pages.get('shipments')?.rows.map((row) => [textIn(row, 'name'), row]) ?? [],
  );
  const page = earlier.size > 0 ? await examination.list('/v1/shipments', earlier.size) : undefined;
  const rows = (page && toListPage('shipments', page)?.rows) ?? [];
  /** For each shipment whose status has changed: whether its `updateTime` has, too. */
  const moves = rows.flatMap((row) => {
    const before = earlier.get(textIn(row, 'name'));
    const hasChanged = before !== undefined && textIn(before, 'status') !== textIn(row, 'status');
    return hasChanged ? [textIn(before, 'updateTime') !== textIn(row, 'updateTime')] : [];
  });
  if (moves.length === 0)
    return open(
      'Not proven: no shipment changed its status while the doctor ran.',
      'Run the doctor again later.',
    );
  if (moves.every(Boolean))
    return ok(`The updateTime of a shipment moves with its status (shipments: ${moves.length}).`);
  return warning(
    'A shipment changed its status, and its updateTime stayed the same.',
    'The filters updatedSince and updatedUntil of shipments miss such changes. Filter shipments by status instead.',
  );
};

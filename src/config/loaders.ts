import { wholeNumber, yesOrNo } from './setting.ts';

/** How loaders save REST calls. */
export const loadingSettings = {
  referenceMs: wholeNumber(
    'REFERENCE_DATA_MS',
    '60000',
    [0, 86_400_000],
    'How long cached reference data is fresh, in milliseconds. `0` caches none. Stale pages are served for 5 more minutes at most.',
  ),
  listsForBatches: yesOrNo(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    'Whether Waybill may read five or more records from pages of their list. It may then also prefetch shipments together with orders.',
  ),
};

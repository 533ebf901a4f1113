import { wholeNumber, yesOrNo } from './setting.ts';

/** How loaders save REST calls. */
export const loadingSettings = {
  referenceMs: wholeNumber(
    'REFERENCE_DATA_MS',
    '60000',
    [0, 86_400_000],
    'How long origins, locations, channels and templates are kept for a token, in milliseconds; `0` keeps none.',
  ),
  listsForBatches: yesOrNo(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    'Whether many ids at once may be answered from pages of their list, where that is expected to be cheaper, and such a page be asked for together with the orders that name its shipments.',
  ),
};

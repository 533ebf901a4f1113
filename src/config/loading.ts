import { wholeNumber, yesOrNo } from './setting.ts';

/** How loaders save calls. */
export const loadingSettings = {
  referenceMs: wholeNumber(
    'REFERENCE_DATA_MS',
    '60000',
    [0, 86_400_000],
    'How long origins, locations, channels and templates are kept for a token, in milliseconds; `0` keeps none.',
  ),
  referenceGraceMs: wholeNumber(
    'REFERENCE_DATA_GRACE_MS',
    '300000',
    [0, 86_400_000],
    'How much longer they are still answered while they are read anew, in milliseconds.',
  ),
  listsForBatches: yesOrNo(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    'Whether many ids at once may be answered from pages of their list, where that is expected to be cheaper.',
  ),
  aheadOfAsk: yesOrNo(
    'UPSTREAM_AHEAD_OF_ASK',
    'yes',
    'Whether a page of shipments may be asked for together with the orders that name them.',
  ),
};

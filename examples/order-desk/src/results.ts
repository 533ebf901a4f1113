import { CombinedGraphQLErrors } from '@apollo/client';
import { money } from './format.ts';
import type { ConflictReason, InvalidFieldCode, NoOfferReason, OfferPartsFragment } from './gql/graphql';
import type { Texts } from './texts.ts';

/** A member of the result of a mutation that is not its success. */
export interface Refusal {
  __typename: string;
  message?: string;
  fields?: { path: string; code: InvalidFieldCode; limit: number | null; message: string }[];
  conflictReason?: ConflictReason;
  noOfferReason?: NoOfferReason;
  quote?: { cheapestOffer: OfferPartsFragment | null };
}

/** Why there is no result at all, without the words of developers where REST is the reason. */
export function failureOf(error: Error | undefined, t: Texts): string {
  const code = CombinedGraphQLErrors.is(error) ? String(error.errors[0]?.extensions?.code) : '';
  return /^(UPSTREAM_|OVERLOADED|RATE_LIMITED|DEADLINE)/.test(code)
    ? t.restFails
    : t.failed(error?.message ?? '');
}

/** Why a write was not done, in the language of the user. Later versions may add members and codes. */
export function reasonOf(refusal: Refusal, t: Texts): string {
  const { __typename, message = '', fields = [], conflictReason, noOfferReason, quote } = refusal;
  if (__typename === 'OutcomeUnknown') return t.unknownOutcome;
  if (fields.length > 0) return fields.map((field) => `${field.path}: ${faultOf(field, t)}`).join('. ');
  if (conflictReason && conflictReason !== 'REJECTED') return t.conflicts[conflictReason] ?? message;
  if (noOfferReason && quote) {
    const best = quote.cheapestOffer;
    const cheapest = best && t.cheapest(best.courier.code, costOf(best.shipmentCost, t));
    return [t.noOffer[noOfferReason] ?? message, cheapest].filter(Boolean).join(' ');
  }
  return message;
}

/** The bound is not known when REST found the fault. Then REST's own words say more. */
export function faultOf({ code, limit, message }: NonNullable<Refusal['fields']>[number], t: Texts): string {
  const text = t.faults[code];
  if (typeof text === 'string') return text;
  return limit === null ? message : (text?.(limit) ?? message);
}

/** A cost as text. REST may leave it out, and it is not zero then. */
export const costOf = (cost: { cents: number } | null, t: Texts) =>
  cost ? money(cost.cents) : t.unknownCost;

/** The cheapest first, and those of an unknown cost last. */
export const available = (offers: readonly OfferPartsFragment[]) =>
  offers.filter((offer) => offer.available).sort((one, other) => centsOf(one) - centsOf(other));

const centsOf = ({ shipmentCost }: OfferPartsFragment) => shipmentCost?.cents ?? Number.MAX_VALUE;

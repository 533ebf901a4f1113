import type { CreateOrderJson } from '../rest/api-types.ts';
import { mayHaveHappened, type StatusError } from '../rest/errors.ts';
import type { OrderJson } from '../rest/wire-schema.ts';
import {
  earliestCreation,
  findCreatedOrder,
  findOrUnknown,
  isOrder,
  type OrderSearch,
} from './created-record-search.ts';
import { earlierAttemptUnknown, UnclearRefusalError } from './errors.ts';
import type { Attempt } from './idempotency.ts';
import {
  type LossTime,
  type LostWrite,
  lossNow,
  lossOf,
  searchUntilSettled,
} from './search-until-settled.ts';
import { isUnclearRefusal, searchAfterRefusal } from './unclear-refusal.ts';
import type { WriteParts } from './write-types.ts';

/** The checkpoint of `createOrder`. REST cannot have created the order before `earliestMs`, by its clock. */
export interface OrderProgress extends LostWrite {
  earliestMs: number | undefined;
}

/**
 * Sends `POST /v1/orders` ("Create Order"), after its checkpoint.
 * @returns the created order, also if REST refused a repetition of the POST.
 * @throws the error of the POST, and UnclearRefusalError if nothing shows whether REST has created the order.
 */
export async function postOrder(
  parts: WriteParts,
  order: CreateOrderJson,
  attempt: Attempt<OrderProgress>,
): Promise<OrderJson> {
  const { api, callContext, loaders } = parts;
  const progress = { earliestMs: earliestCreation(api) };
  await attempt.checkpoint(progress);
  try {
    // Before the bytes leave, `expectHeld` checks the claim of the key.
    const created = await api.createOrder(order, callContext.untilDeadline(attempt.expectHeld));
    loaders.orderById.replace(created.name, created);
    return created;
  } catch (error) {
    const isUnclear = isUnclearRefusal(error, order.referenceId ? 'referenceId' : undefined);
    const lost = lossNow();
    if (isUnclear || mayHaveHappened(error)) await attempt.tryCheckpoint({ ...progress, lost });
    if (isUnclear) return findRefusedOrder(parts, order, progress, lost, error);
    throw error;
  }
}

/**
 * Finds the order of an earlier attempt with the same key. Only an order with a `referenceId` can be found.
 * @param earlier the checkpoint of the earlier attempt
 * @throws OutcomeUnknownError if the order is not found, because REST may have created it all the same.
 */
export async function resumeOrder(
  parts: WriteParts,
  order: CreateOrderJson,
  earlier: OrderProgress | undefined,
  attempt: Attempt<OrderProgress>,
): Promise<OrderJson> {
  // Without a checkpoint, nothing was sent.
  if (earlier === undefined) return postOrder(parts, order, attempt);
  if (!order.referenceId) throw earlierAttemptUnknown({ wasNotFound: false });
  const lost = await lossOf(earlier, attempt.checkpoint);
  const found = await findLostOrder(parts, order, earlier, lost, isOrder);
  if (isOrder(found)) return found;
  throw earlierAttemptUnknown({ wasNotFound: true });
}

/** The order of a POST that REST may have refused as a repetition. @throws the refusal if there is no such order. */
async function findRefusedOrder(
  parts: WriteParts,
  order: CreateOrderJson,
  progress: OrderProgress,
  lost: LossTime,
  refusal: StatusError,
): Promise<OrderJson> {
  if (!order.referenceId) throw new UnclearRefusalError(refusal);
  // If an older order has the reference, REST has refused the first POST too, so nothing was created.
  const isConclusive = (found: OrderSearch) => isOrder(found) || found === 'older';
  const search = () => findLostOrder(parts, order, progress, lost, isConclusive);
  const found = await searchAfterRefusal(refusal, search);
  if (isOrder(found)) return found;
  throw found === 'unclear' ? new UnclearRefusalError(refusal) : refusal;
}

/** Searches for the order of a lost POST. @param isConclusive see `searchUntilSettled` */
function findLostOrder(
  { callContext, loaders, idempotency }: WriteParts,
  order: CreateOrderJson,
  { earliestMs }: OrderProgress,
  lost: LossTime,
  isConclusive: (found: OrderSearch) => boolean,
): Promise<OrderSearch> {
  const search = () => {
    loaders.orderPage.clearAll();
    return findOrUnknown(() => findCreatedOrder(loaders, order, earliestMs));
  };
  return searchUntilSettled(lost, search, isConclusive, idempotency.processingMs, callContext);
}

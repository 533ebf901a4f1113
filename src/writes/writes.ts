import type { Loaders } from '../loaders/loaders.ts';
import type { RecordLoader } from '../loaders/record-loader.ts';
import type { RestApi } from '../rest/api.ts';
import type {
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  SendMessageJson,
  SendToPhoneJson,
  UpdateOrderJson,
} from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import type { ConversationName } from '../rest/conversation-name.ts';
import { mayHaveHappened, OutcomeUnknownError, type StatusError } from '../rest/errors.ts';
import type { ResourceName } from '../rest/resource-name.ts';
import type { MessageJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { withoutDefaults } from './digest.ts';
import type { ShippingProgress } from './earlier-attempt.ts';
import { UnclearRefusalError } from './errors.ts';
import type { Attempt, Held, Idempotency, IdempotentWrite } from './idempotency.ts';
import {
  invalidateAfterOrderCreation,
  invalidateAfterOrderUpdate,
  invalidateAfterShipmentCreation,
  noteOrderOfQuote,
} from './invalidation.ts';
import { type LossTime, type LostWrite, lossNow, lossOf, searchUntilSettled } from './lost-write.ts';
import { earliestCreation, findCreatedOrder, isOrder, type OrderSearch, withRecovery } from './recovery.ts';
import {
  type NamedRecord,
  restoreMessage,
  restoreRecord,
  restoreShipping,
  type SentMessage,
  type ShippedOrder,
  type StoredShipping,
  toStoredShipping,
} from './restored-records.ts';
import { createShippingWorkflow, type ShipOrderRequest, shipOrderDefaults } from './shipping-workflow.ts';
import { mayBeDone, searchAfterRefusal } from './unclear-refusal.ts';

/** The client's idempotency key. Work with a key runs once; without a key, each request runs it. */
type Key = string | null | undefined;

/** The checkpoint of `createOrder`. REST cannot have created the order before `earliestMs`, by its clock. */
interface OrderProgress extends LostWrite {
  earliestMs: number | undefined;
}

export type Writes = ReturnType<typeof createWrites>;

/**
 * The writes of one GraphQL operation. Each write updates or clears the records that `loaders` have cached. All
 * throw the errors of the REST client, and with a key also ConflictError if it was used with another input.
 */
export function createWrites(
  api: RestApi,
  callContext: CallContext,
  loaders: Loaders,
  idempotency: Idempotency,
) {
  // A client that disconnects aborts its reads. A write continues until the operation's deadline, because the outcome
  // of an aborted write is unknown.
  const writeContext = callContext.untilDeadline();
  const restore = <Json>(loader: RecordLoader<Json>, name: string) =>
    restoreRecord(loader, name, idempotency.processingMs, callContext);
  const readShipment = (name: string) => restore(loaders.shipmentById, name);
  const createWorkflow = () => createShippingWorkflow(api, callContext, loaders, idempotency);

  async function postOrder(order: CreateOrderJson, attempt: Attempt<OrderProgress>): Promise<OrderJson> {
    const progress = { earliestMs: earliestCreation(api) };
    await attempt.checkpoint(progress);
    try {
      const created = await api.createOrder(order, callContext.untilDeadline(attempt.expectHeld));
      loaders.orderById.replace(created.name, created);
      return created;
    } catch (error) {
      const isUnclear = mayBeDone(error, order.referenceId ? 'referenceId' : undefined);
      const lost = lossNow();
      if (isUnclear || mayHaveHappened(error)) await attempt.tryCheckpoint({ ...progress, lost });
      if (isUnclear) return findRefusedOrder(order, progress, lost, error);
      throw error;
    }
  }

  /** Searches for the order of a lost POST. @param isConclusive see `searchUntilSettled` */
  function findLostOrder(
    order: CreateOrderJson,
    { earliestMs }: OrderProgress,
    lost: LossTime,
    isConclusive: (found: OrderSearch) => boolean,
  ): Promise<OrderSearch> {
    const search = () => {
      loaders.orderPage.clearAll();
      return withRecovery(() => findCreatedOrder(loaders, order, earliestMs));
    };
    return searchUntilSettled(lost, search, isConclusive, idempotency.processingMs, callContext);
  }

  /** The order of a POST that REST may have refused as a repetition. @throws the refusal if there is no such order. */
  async function findRefusedOrder(
    order: CreateOrderJson,
    progress: OrderProgress,
    lost: LossTime,
    refusal: StatusError,
  ): Promise<OrderJson> {
    if (!order.referenceId) throw new UnclearRefusalError(refusal);
    // Because of an older order with the reference, REST refuses already the first POST.
    const isConclusive = (found: OrderSearch) => isOrder(found) || found === 'older';
    const search = () => findLostOrder(order, progress, lost, isConclusive);
    const found = await searchAfterRefusal(refusal, search);
    if (isOrder(found)) return found;
    throw found === 'unclear' ? new UnclearRefusalError(refusal) : refusal;
  }

  /** Runs a write whose outcome cannot be looked up: a retry after a lost response throws OutcomeUnknownError. */
  function runOnce<Created, Stored>(
    write: Omit<IdempotentWrite<Created, Stored, never>, 'resume'>,
    key: Key,
  ): Promise<Created> {
    return idempotency.runOnce({ ...write, resume: async () => outcomeUnknown(false) }, key, writeContext);
  }

  function send(
    operation: string,
    input: { message: SendMessageJson | SendToPhoneJson; [field: string]: unknown },
    key: Key,
    post: (callContext: CallContext) => Promise<MessageJson>,
  ): Promise<MessageJson> {
    const write = {
      operation,
      input,
      run: ({ expectHeld }: Held) =>
        post(callContext.untilDeadline(expectHeld)).catch((error: unknown) => {
          throw mayBeDone(error) ? new UnclearRefusalError(error) : error;
        }),
      toStored: ({ name, createTime }: MessageJson): SentMessage => ({ name, createTime }),
      restore: (sent: SentMessage) => restoreMessage(loaders, sent, input.message),
    };
    return runOnce(write, key).finally(() => loaders.messagePage.clearAll());
  }

  return {
    /** Sends `POST /v1/orders`. */
    createOrder(order: CreateOrderJson, key: Key): Promise<OrderJson> {
      const write: IdempotentWrite<OrderJson, string, OrderProgress> = {
        operation: 'createOrder',
        input: order,
        run: (attempt) => postOrder(order, attempt),
        async resume(earlier, attempt) {
          // Without a checkpoint, nothing was sent.
          if (earlier === undefined) return postOrder(order, attempt);
          if (!order.referenceId) return outcomeUnknown(true);
          const lost = await lossOf(earlier, attempt.checkpoint);
          const found = await findLostOrder(order, earlier, lost, isOrder);
          return isOrder(found) ? found : outcomeUnknown(true);
        },
        toStored: ({ name }) => name,
        restore: (name) => restore(loaders.orderById, name),
      };
      return idempotency
        .runOnce(write, key, writeContext)
        .finally(() => invalidateAfterOrderCreation(loaders));
    },

    /** Sends `PATCH /v1/orders/{id}`. Takes no key, because the update is idempotent. */
    async updateOrder(order: ResourceName<'orders'>, update: UpdateOrderJson): Promise<OrderJson> {
      const updated = await api
        .updateOrder(order, update, writeContext)
        .finally(() => invalidateAfterOrderUpdate(loaders, order));
      loaders.orderById.replace(updated.name, updated);
      // A cancellation of the order also changes its shipment.
      if (update.updateMask.includes('status') && updated.shipment)
        loaders.shipmentById.noteWritten(updated.shipment);
      return updated;
    },

    /** Sends `POST /v1/quotes`. For a repeated key it returns the name of the quote. */
    createQuote(quote: CreateQuoteJson, key: Key): Promise<QuoteJson | NamedRecord> {
      const write: Parameters<typeof runOnce<QuoteJson | NamedRecord, string>>[0] = {
        operation: 'createQuote',
        input: quote,
        run: (attempt) => createWorkflow().createQuote(quote, attempt),
        toStored: ({ name }) => name,
        restore: async (name) => ({ name }),
      };
      return runOnce(write, key);
    },

    /** Sends `POST /v1/shipments`. */
    createShipment(shipment: CreateShipmentJson, key: Key): Promise<ShipmentJson> {
      const write = {
        operation: 'createShipment',
        input: shipment,
        run: (attempt: Held) =>
          createWorkflow()
            .acceptQuote(shipment, attempt)
            .finally(() => noteOrderOfQuote(loaders, shipment.quote)),
        toStored: ({ name }: ShipmentJson) => name,
        restore: readShipment,
      };
      return runOnce(write, key).finally(() => invalidateAfterShipmentCreation(loaders));
    },

    /** `expectValid` throws if the message is known to be invalid. Called once per key, before the message is sent. */
    sendMessage: (
      { name, channel, conversation }: ConversationName,
      message: SendMessageJson,
      key: Key,
      expectValid: () => Promise<void>,
    ) =>
      send('sendMessage', { conversation: name, message }, key, async (context) => {
        api.expectMessagePermit(channel, conversation, context);
        await expectValid();
        return api.sendMessage(channel, conversation, message, context);
      }),

    sendToPhone: (channel: ResourceName<'channels'>, message: SendToPhoneJson, key: Key) =>
      send('sendMessageToPhone', { channel, message }, key, (context) =>
        api.sendToPhone(channel, message, context),
      ),

    /** Quotes and ships an order. @throws NotFoundError, and ConflictError if the order can't be shipped. */
    async shipOrder(request: ShipOrderRequest, key: Key): Promise<ShippedOrder> {
      const write: IdempotentWrite<ShippedOrder, StoredShipping, ShippingProgress> = {
        operation: 'shipOrder',
        input: withoutDefaults(request, shipOrderDefaults),
        run: (attempt) => createWorkflow().shipOrder(request, undefined, attempt),
        resume: (progress, attempt) => createWorkflow().shipOrder(request, progress, attempt),
        toStored: toStoredShipping,
        restore: (stored) => restoreShipping(stored, request, readShipment),
      };
      const outcome = await idempotency
        .runOnce(write, key, writeContext)
        .finally(() => loaders.orderById.noteWritten(request.order));
      // Another request may have shipped the order while this request waited for the key.
      if ('shipment' in outcome) invalidateAfterShipmentCreation(loaders);
      return outcome;
    },
  };
}

/** `wasNotFound`: whether a search did not find the record that the earlier attempt may have created. */
function outcomeUnknown(wasNotFound: boolean): never {
  throw new OutcomeUnknownError('An earlier attempt with this key got no response', {}, wasNotFound);
}

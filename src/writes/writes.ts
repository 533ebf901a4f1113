import type { RecordLoader } from '../loaders/record-loader.ts';
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
import type { ResourceName } from '../rest/resource-name.ts';
import type { MessageJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { type OrderProgress, postOrder, resumeOrder } from './create-order-workflow.ts';
import { acceptQuote } from './create-shipment-workflow.ts';
import { withoutDefaults } from './digest.ts';
import type { ShippingProgress } from './earlier-shipment-search.ts';
import { earlierAttemptUnknown, UnclearRefusalError } from './errors.ts';
import type { Held, IdempotentWrite } from './idempotency.ts';
import {
  invalidateAfterOrderCreation,
  invalidateAfterOrderUpdate,
  invalidateAfterShipmentCreation,
  noteOrderOfQuote,
} from './invalidation.ts';
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
import { type ShipOrderRequest, shipOrder, shipOrderDefaults } from './ship-order-workflow.ts';
import { createQuote, shippingPartsOf } from './shipping-posts.ts';
import { isUnclearRefusal } from './unclear-refusal.ts';
import type { WriteParts } from './write-types.ts';

/** The client's idempotency key. Work with a key runs once; without a key, each request runs it. */
type Key = string | null | undefined;

export type Writes = ReturnType<typeof createWrites>;

/**
 * The writes of one GraphQL operation. Each write updates or clears the records that `loaders` have cached. All
 * throw the errors of the REST client, and with a key also ConflictError if it was used with another input.
 */
export function createWrites(parts: WriteParts) {
  const { api, callContext, loaders, idempotency } = parts;
  // A client that disconnects aborts its reads. A write continues until the operation's deadline, because the outcome
  // of an aborted write is unknown.
  const writeContext = callContext.untilDeadline();
  const restore = <Json>(loader: RecordLoader<Json>, name: string) =>
    restoreRecord(loader, name, idempotency.processingMs, callContext);
  const readShipment = (name: string) => restore(loaders.shipmentById, name);
  const shipping = shippingPartsOf(parts);

  /**
   * Runs a write whose outcome cannot be looked up: a retry after a lost response throws OutcomeUnknownError.
   * @example
   * runOnce({
   *   operation: 'createQuote',
   *   input: quote,
   *   run: () => api.createQuote(quote, writeContext),
   *   toStored: ({ name }) => name,
   *   restore: (name) => restore(loaders.quoteById, name),
   * }, key)
   */
  function runOnce<Created, Stored>(
    write: Omit<IdempotentWrite<Created, Stored, never>, 'resume'>,
    key: Key,
  ): Promise<Created> {
    return idempotency.runOnce({ ...write, resume: throwUnknownOutcome }, key, writeContext);
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
          throw isUnclearRefusal(error) ? new UnclearRefusalError(error) : error;
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
        run: (attempt) => postOrder(parts, order, attempt),
        resume: (earlier, attempt) => resumeOrder(parts, order, earlier, attempt),
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
        run: (attempt) => createQuote(shipping, quote, attempt),
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
          acceptQuote(shipping, shipment, attempt).finally(() => noteOrderOfQuote(loaders, shipment.quote)),
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
        run: (attempt) => shipOrder(shipping, request, undefined, attempt),
        resume: (progress, attempt) => shipOrder(shipping, request, progress, attempt),
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

/** Without a search, nobody knows what an earlier attempt has done. */
async function throwUnknownOutcome(): Promise<never> {
  throw earlierAttemptUnknown({ wasNotFound: false });
}

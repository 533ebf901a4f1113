import type { Loaders } from '../loaders/loaders.ts';
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
import { OutcomeUnknownError } from '../rest/errors.ts';
import { type ConversationName, isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { MessageJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { withoutDefaults } from './digest.ts';
import {
  createShipmentLookup,
  postNoted,
  type ShippingNote,
  type ShippingProgress,
  shippedAlready,
} from './earlier-attempt.ts';
import {
  type Attempt,
  bothHeld,
  type Held,
  type Idempotency,
  type IdempotentWrite,
  type Lock,
} from './idempotency.ts';
import {
  invalidateAfterOrderCreation,
  invalidateAfterOrderUpdate,
  invalidateAfterShipmentCreation,
} from './invalidation.ts';
import { findCreatedOrder, withRecovery } from './recovery.ts';
import {
  createRestoredRecords,
  type NamedRecord,
  type SentMessage,
  type ShippedOrder,
  type StoredShipping,
  toSentMessage,
  toStoredShipping,
} from './restored-records.ts';
import { createShipOrder, type ShipOrderRequest, shipOrderDefaults } from './shipping-workflow.ts';
import { earliestCreation, type WriteAttempt, writeAttemptNow } from './write-attempt.ts';

/** The client's idempotency key. Work with a key runs once; without a key, each request runs it. */
type Key = string | null | undefined;

/**
 * The writes of one GraphQL operation. Every method throws the errors of the REST client. A method with a key also
 * throws ConflictError if the key was used with another input.
 */
export interface Writes {
  /** Sends `POST /v1/orders`. */
  createOrder(order: CreateOrderJson, key: Key): Promise<OrderJson>;
  /** Sends `PATCH /v1/orders/{id}`. Takes no key, because the update is idempotent. */
  updateOrder(order: ResourceName<'orders'>, update: UpdateOrderJson): Promise<OrderJson>;
  /** Sends `POST /v1/quotes`. For a repeated key it returns the name of the quote. */
  createQuote(quote: CreateQuoteJson, key: Key): Promise<QuoteJson | NamedRecord>;
  /** Sends `POST /v1/shipments`. */
  createShipment(shipment: CreateShipmentJson, key: Key): Promise<ShipmentJson>;
  /**
   * Sends a message to a conversation.
   * @param expectValid throws if the message is known to be invalid. Called once per key, before the message is sent.
   */
  sendMessage(
    conversation: ConversationName,
    message: SendMessageJson,
    key: Key,
    expectValid: () => Promise<void>,
  ): Promise<MessageJson>;
  /** Sends a message to a phone number. */
  sendToPhone(channel: ResourceName<'channels'>, message: SendToPhoneJson, key: Key): Promise<MessageJson>;
  /**
   * Creates a quote and the shipment of an order.
   * @throws NotFoundError, and ConflictError if the order can't be shipped.
   */
  shipOrder(request: ShipOrderRequest, key: Key): Promise<ShippedOrder>;
}

/** Creates the writes of one operation. Each write updates or clears the records that `loaders` have cached. */
export function createWrites(
  api: RestApi,
  callContext: CallContext,
  loaders: Loaders,
  idempotency: Idempotency,
): Writes {
  // A client that disconnects aborts its reads. A write continues until the operation's deadline, because the outcome
  // of an aborted write is unknown.
  const writeContext = callContext.untilDeadline();
  const restored = createRestoredRecords(loaders);
  /** The context of the calls of an attempt: the claim is checked before the bytes of each write leave. */
  const contextOf = ({ expectHeld }: Held): CallContext => callContext.untilDeadline(expectHeld);

  async function createQuote(quote: CreateQuoteJson, attempt: Held) {
    const created = await api.createQuote(quote, contextOf(attempt));
    loaders.quoteById.replace(created.name, created);
    return created;
  }

  async function createOrder(order: CreateOrderJson, attempt: Attempt<WriteAttempt>): Promise<OrderJson> {
    await attempt.checkpoint(writeAttemptNow(api));
    const created = await api.createOrder(order, contextOf(attempt));
    loaders.orderById.replace(created.name, created);
    return created;
  }

  async function createShipment(shipment: CreateShipmentJson, attempt: Held) {
    const created = await api
      .createShipment(shipment, contextOf(attempt))
      .finally(() => invalidateAfterShipmentCreation(loaders));
    loaders.shipmentById.replace(created.name, created);
    return created;
  }

  const shipmentLookup = createShipmentLookup({ api, callContext, loaders });
  const withLock = <Result>(resource: string, work: (lock: Lock<ShippingNote>) => Promise<Result>) =>
    idempotency.withLock(resource, writeContext, work);

  /**
   * Accepts a quote under the lock of its order, as `shipOrder` does, or of the quote if it has no order. So an order or a
   * quote has one shipment, whatever the keys.
   * @throws ConflictError if an earlier request has created a shipment.
   */
  async function acceptQuote(shipment: CreateShipmentJson, attempt: Held): Promise<ShipmentJson> {
    const { quote } = shipment;
    const order = (await loaders.quoteById.load(quote))?.order;
    const isOfOrder = isResourceName('orders', order);
    return withLock(isOfOrder ? order : quote, async (lock) => {
      if (lock.note !== undefined) {
        const earlier = isOfOrder
          ? await earlierShipmentOf(order, lock)
          : (await shipmentLookup.findByQuote(lock))?.name;
        if (earlier !== undefined) throw shippedAlready(isOfOrder ? order : quote, earlier);
      }
      const now = writeAttemptNow(api);
      return postNoted(lock, quote, now, now, () => createShipment(shipment, bothHeld(attempt, lock)));
    });
  }

  /** Returns the name of an order's shipment, even if REST would ship the order again. */
  async function earlierShipmentOf(order: ResourceName<'orders'>, lock: Lock<ShippingNote>) {
    const found = await shipmentLookup.find(order, undefined, lock);
    if (found.shipment !== null) return found.shipment.name;
    return isResourceName('shipments', found.order.shipment) ? found.order.shipment : undefined;
  }

  const shipOrder = createShipOrder({
    api,
    loaders,
    digest: idempotency.digest,
    shipmentLookup,
    withLock,
    createQuote,
    createShipment,
  });

  /**
   * Runs a write once per key. Its outcome cannot be looked up: after an attempt without a response, each request with
   * the key throws OutcomeUnknownError.
   */
  function runOnce<Created, Stored>(
    write: Pick<
      IdempotentWrite<Created, Stored, never>,
      'operation' | 'input' | 'run' | 'toStored' | 'restore'
    >,
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
      run: (attempt: Held) => post(contextOf(attempt)),
      toStored: toSentMessage,
      restore: (sent: SentMessage) => restored.message(sent, input.message),
    };
    return runOnce(write, key).finally(() => loaders.messagePage.clearAll());
  }

  return {
    createOrder: (order, key) =>
      idempotency
        .runOnce<OrderJson, string, WriteAttempt>(
          {
            operation: 'createOrder',
            input: order,
            run: (attempt) => createOrder(order, attempt),
            async resume(earlier, attempt) {
              // Without a checkpoint, nothing was sent.
              if (earlier === undefined) return createOrder(order, attempt);
              const since = () => earliestCreation(earlier, api);
              const found = await withRecovery(() => findCreatedOrder(loaders, order, since));
              return found ?? outcomeUnknown(true);
            },
            toStored: ({ name }) => name,
            restore: restored.order,
          },
          key,
          writeContext,
        )
        .finally(() => invalidateAfterOrderCreation(loaders)),
    updateOrder: async (order, update) => {
      const updated = await api
        .updateOrder(order, update, writeContext)
        .finally(() => invalidateAfterOrderUpdate(loaders, order));
      loaders.orderById.replace(updated.name, updated);
      return updated;
    },
    createQuote: (quote, key) =>
      runOnce<QuoteJson | NamedRecord, string>(
        {
          operation: 'createQuote',
          input: quote,
          run: (attempt) => createQuote(quote, attempt),
          toStored: ({ name }) => name,
          restore: async (name) => ({ name }),
        },
        key,
      ),
    createShipment: (shipment, key) =>
      runOnce<ShipmentJson, string>(
        {
          operation: 'createShipment',
          input: shipment,
          run: (attempt) =>
            key === undefined || key === null
              ? createShipment(shipment, attempt)
              : acceptQuote(shipment, attempt),
          toStored: ({ name }) => name,
          restore: restored.shipment,
        },
        key,
      ).finally(() => invalidateAfterShipmentCreation(loaders)),
    sendMessage: ({ name, channel, conversation }, message, key, expectValid) =>
      send('sendMessage', { conversation: name, message }, key, async (context) => {
        await expectValid();
        return api.sendMessage(channel, conversation, message, context);
      }),
    sendToPhone: (channel, message, key) =>
      send('sendMessageToPhone', { channel, message }, key, (context) =>
        api.sendToPhone(channel, message, context),
      ),
    shipOrder: async (request, key) => {
      const outcome = await idempotency.runOnce<ShippedOrder, StoredShipping, ShippingProgress>(
        {
          operation: 'shipOrder',
          input: withoutDefaults(request, shipOrderDefaults),
          run: (attempt) => shipOrder(request, undefined, attempt),
          resume: (progress, attempt) => shipOrder(request, progress, attempt),
          toStored: toStoredShipping,
          restore: (stored) => restored.shipping(stored, request),
        },
        key,
        writeContext,
      );
      // Another request may have shipped the order while this request waited for the key.
      if ('shipment' in outcome) invalidateAfterShipmentCreation(loaders);
      return outcome;
    },
  };
}

/**
 * Throws the error of an earlier attempt without a response.
 * @param wasNotFound whether the record that the attempt may have created was searched without result.
 */
function outcomeUnknown(wasNotFound: boolean): never {
  throw new OutcomeUnknownError('An earlier attempt with this key got no response', {}, wasNotFound);
}

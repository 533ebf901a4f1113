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
import type { ConversationName, ResourceName } from '../rest/resource-name.ts';
import type { MessageJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { type Attempt, attemptNow, earliestCreation } from './attempt-start.ts';
import type { ShippingProgress } from './earlier-attempt.ts';
import type { Idempotency, IdempotencyKey } from './idempotency.ts';
import {
  invalidateAfterMessage,
  invalidateAfterOrderCreation,
  invalidateAfterOrderUpdate,
  invalidateAfterShipmentCreation,
  replaceOrder,
  replaceQuote,
  replaceShipment,
} from './invalidation.ts';
import { findCreatedOrder, withRecovery } from './recovery.ts';
import { createShipOrder, type ShipOrderRequest, type ShippedOrder } from './shipping-workflow.ts';

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
  /** Sends `POST /v1/quotes`. */
  createQuote(quote: CreateQuoteJson, key: Key): Promise<QuoteJson>;
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
  const writeContext: CallContext = { ...callContext, signal: callContext.deadline.signal };

  const idempotencyKey = (key: Key): IdempotencyKey => ({
    tenant: callContext.tenant,
    key,
    async expectTokenAccepted() {
      if (callContext.isTokenRejected()) await api.getOrganization(callContext);
    },
  });

  /**
   * Runs a write once per key. `resume` does not search for the record of an earlier attempt: it throws
   * OutcomeUnknownError. Another request may run the work, so each request clears its own loaders afterwards.
   */
  function runOnce<Created>(
    operation: string,
    input: unknown,
    key: Key,
    write: () => Promise<Created>,
  ): Promise<Created> {
    return idempotency.runOnce(
      { operation, input, perform: write, resume: async () => outcomeUnknown(false) },
      idempotencyKey(key),
    );
  }

  async function createQuote(quote: CreateQuoteJson): Promise<QuoteJson> {
    const created = await api.createQuote(quote, writeContext);
    replaceQuote(loaders, created);
    return created;
  }

  async function createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson> {
    const created = await api
      .createShipment(shipment, writeContext)
      .finally(() => invalidateAfterShipmentCreation(loaders));
    replaceShipment(loaders, created);
    return created;
  }

  const createOrder = async (order: CreateOrderJson): Promise<OrderJson> => {
    const created = await api.createOrder(order, writeContext);
    replaceOrder(loaders, created);
    return created;
  };

  const shipOrder = createShipOrder({
    api,
    callContext,
    loaders,
    withLock: idempotency.withLock,
    createQuote,
    createShipment,
  });

  return {
    createOrder: (order, key) =>
      idempotency
        .runOnce(
          {
            operation: 'createOrder',
            input: order,
            perform: async (checkpoint) => {
              await checkpoint(attemptNow(api));
              return createOrder(order);
            },
            resume: async (attempt: Attempt | undefined) => {
              const since = () => attempt && earliestCreation(attempt, api);
              const found = await withRecovery(() => findCreatedOrder(loaders, order, since));
              return found ?? outcomeUnknown(true);
            },
          },
          idempotencyKey(key),
        )
        .finally(() => invalidateAfterOrderCreation(loaders)),
    updateOrder: async (order, update) => {
      const updated = await api
        .updateOrder(order, update, writeContext)
        .finally(() => invalidateAfterOrderUpdate(loaders, order));
      replaceOrder(loaders, updated);
      return updated;
    },
    createQuote: (quote, key) => runOnce('createQuote', quote, key, () => createQuote(quote)),
    createShipment: (shipment, key) =>
      runOnce('createShipment', shipment, key, () => createShipment(shipment)).finally(() =>
        invalidateAfterShipmentCreation(loaders),
      ),
    sendMessage: ({ name, channel, conversation }, message, key, expectValid) =>
      runOnce('sendMessage', { conversation: name, message }, key, async () => {
        await expectValid();
        return api.sendMessage(channel, conversation, message, writeContext);
      }).finally(() => invalidateAfterMessage(loaders)),
    sendToPhone: (channel, message, key) =>
      runOnce('sendMessageToPhone', { channel, message }, key, () =>
        api.sendToPhone(channel, message, writeContext),
      ).finally(() => invalidateAfterMessage(loaders)),
    shipOrder: async (request, key) => {
      const outcome = await idempotency.runOnce(
        {
          operation: 'shipOrder',
          input: request,
          perform: (checkpoint) => shipOrder(request, undefined, checkpoint),
          resume: (progress: ShippingProgress | undefined, checkpoint) =>
            shipOrder(request, progress, checkpoint),
        },
        idempotencyKey(key),
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
  throw new OutcomeUnknownError('An earlier attempt with this key got no answer', {}, wasNotFound);
}

import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { OutcomeUnknownError } from '../rest/errors.ts';
import type { ConversationName, ResourceName } from '../rest/resource-name.ts';
import type {
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  SendMessageJson,
  SendToPhoneJson,
  UpdateOrderJson,
} from '../rest/types.ts';
import type { MessageJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { type Attempt, attemptNow, earliestCreation } from './attempt.ts';
import type { Progress } from './earlier-shipping.ts';
import type { Idempotency, Keyed } from './idempotency.ts';
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
import { createShipOrder, type ShipOrder, type ShippedOrder } from './ship-order.ts';

/** A key of the client's own, under which a write is done once at most; none for a write that is done each time. */
type Key = string | null | undefined;

/**
 * Everything that the graph can change. Lives for one operation. Every method throws what the REST client throws;
 * those that take a key also ConflictError, where it was given with another input.
 */
export interface Writes {
  createOrder(order: CreateOrderJson, key: Key): Promise<OrderJson>;
  /** Without a key: the same update twice leaves what it leaves once. */
  updateOrder(order: ResourceName<'orders'>, update: UpdateOrderJson): Promise<OrderJson>;
  createQuote(quote: CreateQuoteJson, key: Key): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson, key: Key): Promise<ShipmentJson>;
  /** @param expectFit throws where the message is known not to fit; asked before it is sent, and not for a key again. */
  sendMessage(
    conversation: ConversationName,
    message: SendMessageJson,
    key: Key,
    expectFit: () => Promise<void>,
  ): Promise<MessageJson>;
  sendToPhone(channel: ResourceName<'channels'>, message: SendToPhoneJson, key: Key): Promise<MessageJson>;
  /** Reads, quotes, chooses and ships. @throws NotFoundError and ConflictError for an order that can't be shipped. */
  shipOrder(preference: ShipOrder, key: Key): Promise<ShippedOrder>;
}

/** The writes of one operation, on behalf of `reader`, whose `loaders` then know what has changed. */
export function createWrites(
  api: RestApi,
  reader: CallContext,
  loaders: Loaders,
  idempotency: Idempotency,
): Writes {
  // A client that leaves ends what is read for it. A write goes on, or nobody would know what became of it, until all the
  // time that the operation may take has passed.
  const writer: CallContext = { ...reader, signal: reader.deadline.signal };

  const keyedBy = (key: Key): Keyed => ({
    tenant: reader.tenant,
    key,
    async expectAccepted() {
      if (reader.isRefused()) await api.getOrganization(reader);
    },
  });

  /**
   * A write that is done once under its key, and of which nothing can be looked for after an attempt without an answer. As
   * the work may be done in another request, each request clears its own loaders afterwards.
   */
  function runOnce<Made>(
    operation: string,
    input: unknown,
    key: Key,
    write: () => Promise<Made>,
  ): Promise<Made> {
    return idempotency.runOnce(
      { operation, input, perform: write, resume: async () => outcomeUnknown(false) },
      keyedBy(key),
    );
  }

  async function createQuote(quote: CreateQuoteJson): Promise<QuoteJson> {
    const created = await api.createQuote(quote, writer);
    replaceQuote(loaders, created);
    return created;
  }

  async function createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson> {
    const created = await api
      .createShipment(shipment, writer)
      .finally(() => invalidateAfterShipmentCreation(loaders));
    replaceShipment(loaders, created);
    return created;
  }

  const createOrder = async (order: CreateOrderJson): Promise<OrderJson> => {
    const created = await api.createOrder(order, writer);
    replaceOrder(loaders, created);
    return created;
  };

  const shipOrder = createShipOrder({
    api,
    callContext: reader,
    loaders,
    hold: idempotency.hold,
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
          keyedBy(key),
        )
        .finally(() => invalidateAfterOrderCreation(loaders)),
    updateOrder: async (order, update) => {
      const updated = await api
        .updateOrder(order, update, writer)
        .finally(() => invalidateAfterOrderUpdate(loaders, order));
      replaceOrder(loaders, updated);
      return updated;
    },
    createQuote: (quote, key) => runOnce('createQuote', quote, key, () => createQuote(quote)),
    createShipment: (shipment, key) =>
      runOnce('createShipment', shipment, key, () => createShipment(shipment)).finally(() =>
        invalidateAfterShipmentCreation(loaders),
      ),
    sendMessage: ({ name, channel, conversation }, message, key, expectFit) =>
      runOnce('sendMessage', { conversation: name, message }, key, async () => {
        await expectFit();
        return api.sendMessage(channel, conversation, message, writer);
      }).finally(() => invalidateAfterMessage(loaders)),
    sendToPhone: (channel, message, key) =>
      runOnce('sendMessageToPhone', { channel, message }, key, () =>
        api.sendToPhone(channel, message, writer),
      ).finally(() => invalidateAfterMessage(loaders)),
    shipOrder: async (preference, key) => {
      const outcome = await idempotency.runOnce(
        {
          operation: 'shipOrder',
          input: preference,
          perform: (checkpoint) => shipOrder(preference, undefined, checkpoint),
          resume: (progress: Progress | undefined, checkpoint) => shipOrder(preference, progress, checkpoint),
        },
        keyedBy(key),
      );
      // Another request may have shipped it, while this one waited for the key.
      if ('shipment' in outcome) invalidateAfterShipmentCreation(loaders);
      return outcome;
    },
  };
}

/** `wasLookedFor`: whether what it may have made was looked for, without result. */
function outcomeUnknown(wasRecovered: boolean): never {
  throw new OutcomeUnknownError('An earlier attempt with this key got no answer', {}, wasRecovered);
}

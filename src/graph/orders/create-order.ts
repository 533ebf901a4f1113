import * as v from 'valibot';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { describedEnum } from '../fields/described-enum.ts';
import { defineMutation, inputArg, type MutationResolver } from '../mutation/define-mutation.ts';
import { centsAtLeast, idempotencyKey, keyDescription, textOfLength } from '../mutation/input-rules.ts';
import { inputsArg, runBatch } from '../mutation/run-batch.ts';
import { resultUnion, WriteFailed } from '../mutation/user-error.ts';
import { Order } from './order.ts';
import { orderStatuses } from './order-status.ts';
import { OrderRecipientInput, orderRecipientRules } from './recipient-input.ts';

const { NEW, CONFIRMED } = orderStatuses;
const OrderInitialStatus = describedEnum('OrderInitialStatus', 'The statuses that a new order can have.', {
  NEW,
  CONFIRMED,
});

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'The order to create. Null is valid only for fields whose description mentions null.',
  fields: (t) => ({
    recipient: t.field({
      type: OrderRecipientInput,
      required: true,
      description: 'The person who receives the order.',
    }),
    contentDescription: t.string({
      required: true,
      description: 'The contents of the package, 3 to 128 characters.',
    }),
    notes: t.string({ required: true, description: 'The notes on the order, 3 to 2048 characters.' }),
    sellingPriceCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The price in cents that the customer pays for the order. Used for reports only.',
    }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The amount in cents that the courier collects on delivery, at least 0.',
    }),
    status: t.field({
      type: OrderInitialStatus,
      description: 'The initial status of the order. By default, the REST service decides.',
    }),
    paymentMethods: t.stringList({
      description: 'The payment methods of the customer as free text, such as `PSE`.',
    }),
    referenceId: t.string({
      description:
        "The id of the order in the merchant's e-commerce system. Waybill uses it to find the order if the response " +
        'is lost.',
    }),
    referenceUrl: t.field({
      type: 'URL',
      description: "The URL of the order in the merchant's e-commerce system.",
    }),
    fulfiller: t.string({
      description:
        'The name of the company that ships the order: either the operator of the REST service (the ' +
        'default) or a partner company. To find both names, read `Order.fulfiller` of existing orders.',
    }),
    idempotencyKey: t.string({
      description: keyDescription(
        'order',
        'creates',
        '`GET /v1/orders/{id}`',
        'After `OutcomeUnknown`, a retry looks for the order if the input has a `referenceId`. Otherwise, the retry returns ' +
          '`OutcomeUnknown` again.',
      ),
    }),
  }),
});

/** The rules of "Create Order body fields". */
const rules = v.object({
  recipient: orderRecipientRules,
  contentDescription: textOfLength(3, 128),
  notes: textOfLength(3, 2048),
  sellingPriceCents: v.number(),
  cashOnDeliveryRequestCents: centsAtLeast(0),
  status: v.exactOptional(v.string()),
  paymentMethods: v.exactOptional(v.array(v.string())),
  referenceId: v.exactOptional(v.string()),
  referenceUrl: v.exactOptional(v.string()),
  fulfiller: v.exactOptional(v.string()),
  idempotencyKey,
});

const CreateOrderSuccess = builder
  .objectRef<{ __typename: 'CreateOrderSuccess'; order: OrderJson }>('CreateOrderSuccess')
  .implement({
    description: 'The order was created.',
    fields: (t) => ({ order: t.expose('order', { type: Order, description: 'The new order.' }) }),
  });

const CreateOrderResult = resultUnion('CreateOrderResult', [CreateOrderSuccess, WriteFailed]);

const create = defineMutation({
  rules,
  run: async ({ idempotencyKey, ...order }, { writes }) => ({
    __typename: 'CreateOrderSuccess' as const,
    order: await writes.createOrder(order, idempotencyKey),
  }),
  adviceOnUnknownOutcome,
});

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: CreateOrderResult,
    nullable: true,
    description:
      'Creates an order. Costs `POST /v1/orders`. After a lost response, a retry with the same `idempotencyKey` costs a ' +
      'search with `GET /v1/orders` instead.',
    args: inputArg(CreateOrderInput, 'The order to create.'),
    resolve: create,
  }),
  createOrders: t.field({
    type: [CreateOrderResult],
    nullable: true,
    description:
      'Creates up to 100 orders. Returns one result per input, in the sequence of `inputs`. If every result would be ' +
      'a `WriteFailed` with the same `code`, the field is null instead, with that error. Costs `POST ' +
      '/v1/orders` for each input. After a lost response, a retry with the same `idempotencyKey` costs a search with ' +
      '`GET /v1/orders` instead.',
    args: inputsArg(
      CreateOrderInput,
      'The orders to create, at most 100. If several inputs have the same `referenceId`, the first input creates an ' +
        'order, and the result of each later input is a `Conflict`. If the result of the first input is `InvalidInput` ' +
        'or `Conflict`, the next input can create the order instead. A later input with the same `idempotencyKey` is a ' +
        'retry of the first input.',
    ),
    resolve: (_root, { inputs }, context, info) =>
      runBatch(inputs, ({ referenceId }) => referenceId, onePerReference(), context, info),
  }),
}));

type Create = MutationResolver<typeof CreateOrderInput.$inferInput, Awaited<ReturnType<typeof create>>>;

/**
 * Creates the order of the first input of each `referenceId`. Further ones are a `Conflict`, unless the first is an
 * `InvalidInput` or a `Conflict`, or has the same key. `runBatch` gives the inputs of a `referenceId` one after another.
 */
function onePerReference(): Create {
  const keyByReference = new Map<string, string | null | undefined>();
  return async (root, args, context, info) => {
    const { referenceId, idempotencyKey: key } = args.input;
    const isRetry = typeof key === 'string' && keyByReference.get(referenceId ?? '') === key;
    if (!referenceId || isRetry) return create(root, args, context, info);
    if (keyByReference.has(referenceId)) {
      const message = `An earlier input of the list has the referenceId ${quoteForMessage(referenceId)}. Nothing was written for this input.`;
      return { __typename: 'Conflict', message, reason: 'DUPLICATE_REFERENCE' };
    }
    // Set before the write: an error may hide that REST has created the order.
    keyByReference.set(referenceId, key);
    const result = await create(root, args, context, info);
    if (result.__typename === 'InvalidInput' || result.__typename === 'Conflict')
      keyByReference.delete(referenceId);
    return result;
  };
}

function adviceOnUnknownOutcome(
  { referenceId, idempotencyKey: key }: v.InferOutput<typeof rules>,
  wasNotFound: boolean,
): string {
  // Orders can't be searched by an absent or empty reference.
  const lookup = referenceId
    ? `look for it with orderByReference(referenceId: ${JSON.stringify(referenceId)})`
    : "look for it among this customer's newest orders";
  const advice = `Before you create the order again, ${lookup}. Then use a new idempotencyKey.`;
  if (!referenceId) return advice;
  if (wasNotFound)
    return `Waybill found no order with this referenceId and the values of the input. ${advice}`;
  return key === undefined || key === null
    ? `Before you create the order again, ${lookup}. With an idempotencyKey, Waybill itself looks for the order on a retry.`
    : `Retry with the same idempotencyKey: Waybill then looks for the order. Before you use a new key, ${lookup}.`;
}

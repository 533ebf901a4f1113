import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import {
  centsAtLeast,
  idempotencyKey,
  list,
  number,
  object,
  optional,
  text,
  textOfLength,
} from '../mutation/input-rules.ts';
import { runMutation } from '../mutation/run-mutation.ts';
import { resultUnion } from '../mutation/user-error.ts';
import { Order } from './order.ts';
import { OrderRecipientInput, orderRecipientRules } from './recipient-input.ts';

const OrderInitialStatus = builder.enumType('OrderInitialStatus', {
  description: 'The statuses that an order can be recorded with.',
  values: {
    NEW: { description: 'Recorded, not yet confirmed.' },
    CONFIRMED: { description: 'Confirmed with the customer.' },
  },
});

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'The order to record. What is not needed may be left out; null is refused.',
  fields: (t) => ({
    recipient: t.field({ type: OrderRecipientInput, required: true, description: 'Who receives the order.' }),
    contentDescription: t.string({
      required: true,
      description: 'What is in the package, in 3 to 128 characters.',
    }),
    notes: t.string({ required: true, description: 'Notes to the order, 3 to 2048 characters.' }),
    sellingPriceCents: t.field({
      type: 'Cents',
      required: true,
      description: 'What the customer pays for the order; for reporting only.',
    }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      required: true,
      description: 'What the courier is to collect on delivery, from 0.',
    }),
    status: t.field({
      type: OrderInitialStatus,
      description: 'How far the order has come already. Left out, the REST service says.',
    }),
    paymentMethods: t.stringList({ description: 'How the customer pays, in your own words, such as `PSE`.' }),
    referenceId: t.string({
      description:
        'The id of the order in the e-commerce system that it comes from. By it an order is found again after an answer ' +
        'that never came.',
    }),
    referenceUrl: t.field({ type: 'URL', description: 'The page of the order in that system.' }),
    fulfiller: t.string({
      description:
        'Who ships the order: one of the two names that the REST service has for itself, which is meant where it is left ' +
        'out, and for its partner. `Order.fulfiller` shows them.',
    }),
    idempotencyKey: t.string({
      description:
        'A key of your own, 1 to 255 characters, new for each order. For 24 hours the same key and input, with any access ' +
        'token of the merchant, return the same order and record nothing twice. A repeated key costs `GET /v1/orders/{id}`.',
    }),
  }),
});

/** The rules of "Create Order body fields". */
const rules = object({
  recipient: orderRecipientRules,
  contentDescription: textOfLength(3, 128),
  notes: textOfLength(3, 2048),
  sellingPriceCents: number,
  cashOnDeliveryRequestCents: centsAtLeast(0),
  status: optional(text),
  paymentMethods: optional(list(text)),
  referenceId: optional(text),
  referenceUrl: optional(text),
  fulfiller: optional(text),
  idempotencyKey,
});

const CreateOrderSuccess = builder
  .objectRef<{ __typename: 'CreateOrderSuccess'; order: OrderJson }>('CreateOrderSuccess')
  .implement({
    description: 'The order is recorded.',
    fields: (t) => ({
      order: t.expose('order', { type: Order, description: 'The order as it was recorded.' }),
    }),
  });

const CreateOrderResult = resultUnion('CreateOrderResult', {
  description: 'What came of recording an order.',
  types: [CreateOrderSuccess],
});

builder.mutationField('createOrder', (t) =>
  t.field({
    type: CreateOrderResult,
    nullable: true,
    description:
      'Records an order. Costs `POST /v1/orders`; with the key of an attempt that got no answer, a searched ' +
      '`GET /v1/orders` instead.',
    args: { input: t.arg({ type: CreateOrderInput, required: true, description: 'The order to record.' }) },
    resolve: (_root, { input }, { writes }, info) =>
      runMutation({
        rules,
        input,
        info,
        run: async ({ idempotencyKey, ...order }) => ({
          __typename: 'CreateOrderSuccess' as const,
          order: await writes.createOrder(order, idempotencyKey),
        }),
        adviceOnUnknownOutcome,
      }),
  }),
);

interface SentOrder {
  referenceId?: string;
  idempotencyKey?: string | null;
}

function adviceOnUnknownOutcome(
  { referenceId, idempotencyKey: key }: SentOrder,
  wasNotFound: boolean,
): string {
  // Orders can't be searched by an absent or empty reference.
  if (!referenceId) {
    return "Look for it among the newest of this customer's orders before you record it again, then with a new idempotencyKey.";
  }
  const searchAdvice = `ook for it with orderByReference(referenceId: ${JSON.stringify(referenceId)}) before you record it again`;
  if (wasNotFound) {
    return `No one order with its reference is as it was sent. L${searchAdvice}, then with a new idempotencyKey.`;
  }
  return key === undefined || key === null
    ? `L${searchAdvice}, and give an idempotencyKey, which makes this server look.`
    : `Send it again with the same idempotencyKey, and it is looked for by its reference; or l${searchAdvice} with a new key.`;
}

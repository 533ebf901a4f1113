import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import {
  centsAtLeast,
  idempotencyKey,
  keyDescription,
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
  description: 'The statuses that a new order can have.',
  values: {
    NEW: { description: 'The order is not confirmed yet.' },
    CONFIRMED: { description: 'The customer confirmed the order.' },
  },
});

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'The order to create. Omit optional fields instead of passing null.',
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
      description: 'The price that the customer pays for the order. Used for reports only.',
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
        'The id of the order in your e-commerce system. Waybill uses it to find the order if the response is ' +
        'lost.',
    }),
    referenceUrl: t.field({
      type: 'URL',
      description: "The address of the order's page in the e-commerce system.",
    }),
    fulfiller: t.string({
      description:
        'Who ships the order: the REST service itself (the default) or its partner. `Order.fulfiller` shows ' +
        'both names.',
    }),
    idempotencyKey: t.string({ description: keyDescription('order', 'creates', '`GET /v1/orders/{id}`') }),
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
    description: 'The order was created.',
    fields: (t) => ({
      order: t.expose('order', { type: Order, description: 'The new order.' }),
    }),
  });

const CreateOrderResult = resultUnion('CreateOrderResult', {
  description: 'The result of `createOrder`.',
  types: [CreateOrderSuccess],
});

builder.mutationField('createOrder', (t) =>
  t.field({
    type: CreateOrderResult,
    nullable: true,
    description:
      'Creates an order. Costs `POST /v1/orders`, or a searched `GET /v1/orders` to find the result of an ' +
      'earlier attempt.',
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
    return `No order with this referenceId matches the input. L${searchAdvice}, then with a new idempotencyKey.`;
  }
  return key === undefined || key === null
    ? `L${searchAdvice}, and give an idempotencyKey, which makes this server look.`
    : `Send it again with the same idempotencyKey, and it is looked for by its reference; or l${searchAdvice} with a new key.`;
}

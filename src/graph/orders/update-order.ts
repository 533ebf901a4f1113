import * as v from 'valibot';
import type { UpdateOrderField } from '../../rest/api-types.ts';
import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { describedEnum } from '../fields/described-enum.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import { centsAtLeast, idDescription, recordId, textOfLength, toIssue } from '../mutation/input-rules.ts';
import { bareIdentifier, inputsArg, runBatch } from '../mutation/run-batch.ts';
import { NotFound, resultUnion, WriteFailed } from '../mutation/user-error.ts';
import { Order } from './order.ts';
import { orderStatuses } from './order-status.ts';
import { OrderRecipientInput, orderRecipientRules } from './recipient-input.ts';

const { NEW, CONFIRMED, READY, CANCELLED } = orderStatuses;
const OrderUpdatableStatus = describedEnum(
  'OrderUpdatableStatus',
  'The statuses that `updateOrder` can set. The REST service sets all others.',
  { NEW, CONFIRMED, READY, CANCELLED },
);

const UpdateOrderInput = builder.inputType('UpdateOrderInput', {
  description:
    'An order and at least one new value. Omitted fields do not change. No field of this input accepts null.',
  fields: (t) => ({
    id: t.id({ required: true, description: idDescription('The order', 'orders') }),
    status: t.field({
      type: OrderUpdatableStatus,
      description:
        'The status of the order. If the REST service does not allow the change, the result is a `Conflict`.',
    }),
    recipient: t.field({
      type: OrderRecipientInput,
      description: 'The person who receives the order. Replaces the whole recipient.',
    }),
    sellingPriceCents: t.field({
      type: 'Cents',
      description: 'The price in cents that the customer pays for the order. Used for reports only.',
    }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      description: 'The amount in cents that the courier collects on delivery, at least 0.',
    }),
    paymentMethods: t.stringList({
      description: 'The payment methods of the customer. Replaces the whole list.',
    }),
    contentDescription: t.string({ description: 'The contents of the package, 3 to 128 characters.' }),
    notes: t.string({ description: 'The notes on the order, 3 to 2048 characters.' }),
    fulfiller: t.string({
      description: 'The name of the company that ships the order, as in `Order.fulfiller`.',
    }),
  }),
});

/** The rules of each field ("Update Order rules", 3), in the order in which REST lists the fields. */
const fieldRules = {
  status: v.exactOptional(v.string()),
  recipient: v.exactOptional(orderRecipientRules),
  sellingPriceCents: v.exactOptional(v.number()),
  cashOnDeliveryRequestCents: v.exactOptional(centsAtLeast(0)),
  paymentMethods: v.exactOptional(v.array(v.string())),
  contentDescription: v.exactOptional(textOfLength(3, 128)),
  notes: v.exactOptional(textOfLength(3, 2048)),
  fulfiller: v.exactOptional(v.string()),
} satisfies Record<UpdateOrderField, v.GenericSchema>;

const updatableFields = Object.keys(fieldRules) as UpdateOrderField[]; // `satisfies` ensures that these are all keys.

const updateMaskOf = (input: object) => updatableFields.filter((field) => Object.hasOwn(input, field));

const rules = v.pipe(
  v.object({ id: recordId('orders'), ...fieldRules }),
  // Unlike `check`, `rawCheck` also runs if a field has an error.
  v.rawCheck(({ dataset: { value }, addIssue }) => {
    if (value instanceof Object && updateMaskOf(value).length > 0) return;
    addIssue(toIssue({ code: 'REQUIRED', message: 'the input must have at least one field besides id' }));
  }),
);

const UpdateOrderSuccess = builder
  .objectRef<{ __typename: 'UpdateOrderSuccess'; order: OrderJson }>('UpdateOrderSuccess')
  .implement({
    description: 'The order was updated.',
    fields: (t) => ({ order: t.expose('order', { type: Order, description: 'The updated order.' }) }),
  });

const UpdateOrderResult = resultUnion('UpdateOrderResult', [UpdateOrderSuccess, NotFound, WriteFailed]);

const update = defineMutation({
  rules,
  target: ({ id }) => ({ id, path: 'id' }),
  run: async ({ id, ...order }, { writes }) => ({
    __typename: 'UpdateOrderSuccess' as const,
    order: await writes.updateOrder(id, { order, updateMask: updateMaskOf(order) }),
  }),
  adviceOnUnknownOutcome: ({ id }) =>
    `Check the values of order(id: ${JSON.stringify(id)}), or send the same update again, which does no harm. ` +
    'If you then get a Conflict, the first update may have cancelled the order.',
});

builder.mutationFields((t) => ({
  updateOrder: t.field({
    type: UpdateOrderResult,
    nullable: true,
    description: 'Updates the given fields of an order. Costs `PATCH /v1/orders/{id}`.',
    args: inputArg(UpdateOrderInput, 'The order and its new values.'),
    resolve: update,
  }),
  updateOrders: t.field({
    type: [UpdateOrderResult],
    nullable: true,
    description:
      'Updates up to 100 orders. Returns one result per input, in the sequence of `inputs`. If every result would be ' +
      'a `WriteFailed` with the same `code`, the field is null instead, with that error. Costs `PATCH ' +
      '/v1/orders/{id}` for each input.',
    args: inputsArg(UpdateOrderInput, 'The orders and their new values, at most 100.'),
    resolve: (_root, { inputs }, context, info) =>
      runBatch(inputs, ({ id }) => bareIdentifier(id), update, context, info),
  }),
}));

import type { GraphQLResolveInfo } from 'graphql';
import * as v from 'valibot';
import type { UpdateOrderField } from '../../rest/types.ts';
import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { runBatch } from '../input/batch-mutation.ts';
import type { Renames } from '../input/input-path.ts';
import { amount, centsFrom, fields, idOf, listOf, optional, text, textOf } from '../input/input-rules.ts';
import { runMutation } from '../input/run-mutation.ts';
import { Conflict, InvalidInput, NotFound, OutcomeUnknown, WriteFailed } from '../input/user-error.ts';
import { Order } from './order.ts';
import { OrderRecipientInput, orderRecipientRules } from './recipient-input.ts';

const OrderUpdatableStatus = builder.enumType('OrderUpdatableStatus', {
  description: 'The statuses that an order can be given. All others are set by the service.',
  values: {
    NEW: { description: 'Recorded, not yet confirmed.' },
    CONFIRMED: { description: 'Confirmed with the customer.' },
    READY: { description: 'Packed, ready to be shipped.' },
    CANCELLED: { description: 'Called off.' },
  },
});

const UpdateOrderInput = builder.inputType('UpdateOrderInput', {
  description:
    'An order, and what is to change of it: at least one field. What is left out stays as it is; null is refused.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The order, `orders/<identifier>` or the bare identifier.' }),
    status: t.field({
      type: OrderUpdatableStatus,
      description:
        'How far the order has come. Which step may follow on which is for the REST service to say: one that may not is a ' +
        '`Conflict`.',
    }),
    recipient: t.field({
      type: OrderRecipientInput,
      description: 'Who receives the order, in place of the recipient as a whole.',
    }),
    sellingPriceCents: t.field({
      type: 'Cents',
      description: 'What the customer pays for the order; for reporting only.',
    }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      description: 'What the courier is to collect on delivery, from 0.',
    }),
    paymentMethods: t.stringList({
      description: 'How the customer pays, in place of the list as a whole.',
    }),
    contentDescription: t.string({ description: 'What is in the package, in 3 to 128 characters.' }),
    notes: t.string({ description: 'Notes to the order, 3 to 2048 characters.' }),
    fulfiller: t.string({
      description: 'Who ships the order: one of the two names that `Order.fulfiller` shows.',
    }),
  }),
});

/** "Update Order rules" 3, in the order in which 2 lists the fields. */
const updatable = {
  status: optional(text),
  recipient: optional(orderRecipientRules),
  sellingPriceCents: optional(amount),
  cashOnDeliveryRequestCents: optional(centsFrom(0)),
  paymentMethods: optional(listOf(text)),
  contentDescription: optional(textOf(3, 128)),
  notes: optional(textOf(3, 2048)),
  fulfiller: optional(text),
} satisfies Record<UpdateOrderField, v.GenericSchema>;

const updatableFields = Object.keys(updatable) as UpdateOrderField[]; // Exactly these, as `satisfies` has seen to.

/** What of an order is to change: the fields that are there, whatever their values. */
const maskOf = (input: object) => updatableFields.filter((field) => Object.hasOwn(input, field));

const rules = v.pipe(
  fields({ id: idOf('orders'), ...updatable }),
  // Unlike `check`, it also runs beside a fault of a field.
  v.rawCheck(({ dataset: { value }, addIssue }) => {
    if (value instanceof Object && maskOf(value).length > 0) return;
    addIssue({ message: 'it holds nothing to update: give at least one field beside id' });
  }),
);

const UpdateOrderSuccess = builder
  .objectRef<{ __typename: 'UpdateOrderSuccess'; order: OrderJson }>('UpdateOrderSuccess')
  .implement({
    description: 'The order is updated.',
    fields: (t) => ({
      order: t.expose('order', {
        type: Order,
        nullable: false,
        description: 'The order as it is now.',
      }),
    }),
  });

const UpdateOrderResult = builder.unionType('UpdateOrderResult', {
  description: 'What came of updating an order.',
  types: [UpdateOrderSuccess, InvalidInput, NotFound, Conflict, OutcomeUnknown, WriteFailed],
});

builder.mutationFields((t) => ({
  updateOrder: t.field({
    type: UpdateOrderResult,
    description: 'Changes the fields of an order that the input holds. Costs `PATCH /v1/orders/{id}`.',
    args: { input: t.arg({ type: UpdateOrderInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context, info) => update(input, context, info),
  }),
  updateOrders: t.field({
    type: [UpdateOrderResult],
    nullable: { list: true, items: false },
    description:
      'Changes up to 100 orders, and answers in their order, each with a result of its own; where all fail alike, for no ' +
      'fault of their own, with that one error. Costs ' +
      '`PATCH /v1/orders/{id}` for each, several at a time; of the same order, one after the other.',
    args: {
      inputs: t.arg({
        type: [UpdateOrderInput],
        required: true,
        description: 'What is to change, at most 100 orders.',
      }),
    },
    resolve: (_root, { inputs }, context, info) =>
      runBatch(
        inputs,
        ({ id }) => id,
        (input) => update(input, context, info),
        context,
      ),
  }),
}));

function update(input: typeof UpdateOrderInput.$inferInput, { writes }: Context, info: GraphQLResolveInfo) {
  return runMutation({
    rules,
    input,
    info,
    about: ({ id }) => id,
    renames: placesInMask(input),
    run: async ({ id, ...order }) => ({
      __typename: 'UpdateOrderSuccess' as const,
      order: await writes.updateOrder(id, { order, updateMask: maskOf(order) }),
    }),
    whatToCheck: ({ id }) =>
      `Look with order(id: ${JSON.stringify(id)}) whether it has the new values, or update it again with the same ones, ` +
      'which does no harm; a Conflict then may come of a cancellation that was done.',
  });
}

/** REST may speak of a field by its place in the mask, which the input has not. */
function placesInMask(input: object): Renames {
  return Object.fromEntries(maskOf(input).map((field, place) => [`updateMask.${place}`, field]));
}

import type { GraphQLResolveInfo } from 'graphql';
import * as v from 'valibot';
import type { UpdateOrderField } from '../../rest/api-types.ts';
import type { OrderJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import {
  centsAtLeast,
  list,
  number,
  object,
  optional,
  recordId,
  text,
  textOfLength,
} from '../mutation/input-rules.ts';
import type { RestToInputPaths } from '../mutation/rest-to-input-path.ts';
import { runBatch } from '../mutation/run-batch.ts';
import { runMutation } from '../mutation/run-mutation.ts';
import { NotFound, resultUnion, WriteFailed } from '../mutation/user-error.ts';
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
    paymentMethods: t.stringList({ description: 'How the customer pays, in place of the list as a whole.' }),
    contentDescription: t.string({ description: 'What is in the package, in 3 to 128 characters.' }),
    notes: t.string({ description: 'Notes to the order, 3 to 2048 characters.' }),
    fulfiller: t.string({
      description: 'Who ships the order: one of the two names that `Order.fulfiller` shows.',
    }),
  }),
});

/** The rules of each field by "Update Order rules" 3, in the order of rule 2. */
const fieldRules = {
  status: optional(text),
  recipient: optional(orderRecipientRules),
  sellingPriceCents: optional(number),
  cashOnDeliveryRequestCents: optional(centsAtLeast(0)),
  paymentMethods: optional(list(text)),
  contentDescription: optional(textOfLength(3, 128)),
  notes: optional(textOfLength(3, 2048)),
  fulfiller: optional(text),
} satisfies Record<UpdateOrderField, v.GenericSchema>;

const updatableFields = Object.keys(fieldRules) as UpdateOrderField[]; // `satisfies` ensures that these are all keys.

const updateMaskOf = (input: object) => updatableFields.filter((field) => Object.hasOwn(input, field));

const rules = v.pipe(
  object({ id: recordId('orders'), ...fieldRules }),
  // Unlike `check`, `rawCheck` also runs if a field has an error.
  v.rawCheck(({ dataset: { value }, addIssue }) => {
    if (value instanceof Object && updateMaskOf(value).length > 0) return;
    addIssue({ message: 'it holds nothing to update: give at least one field beside id' });
  }),
);

const UpdateOrderSuccess = builder
  .objectRef<{ __typename: 'UpdateOrderSuccess'; order: OrderJson }>('UpdateOrderSuccess')
  .implement({
    description: 'The order is updated.',
    fields: (t) => ({
      order: t.expose('order', { type: Order, description: 'The order as it is now.' }),
    }),
  });

const UpdateOrderResult = resultUnion('UpdateOrderResult', {
  description: 'What came of updating an order.',
  types: [UpdateOrderSuccess, NotFound, WriteFailed],
});

builder.mutationFields((t) => ({
  updateOrder: t.field({
    type: UpdateOrderResult,
    nullable: true,
    description: 'Changes the fields of an order that the input holds. Costs `PATCH /v1/orders/{id}`.',
    args: { input: t.arg({ type: UpdateOrderInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context, info) => update(input, context, info),
  }),
  updateOrders: t.field({
    type: [UpdateOrderResult],
    nullable: true,
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
    targetId: ({ id }) => id,
    restToInputPaths: updateMaskPaths(input),
    run: async ({ id, ...order }) => ({
      __typename: 'UpdateOrderSuccess' as const,
      order: await writes.updateOrder(id, { order, updateMask: updateMaskOf(order) }),
    }),
    adviceOnUnknownOutcome: ({ id }) =>
      `Look with order(id: ${JSON.stringify(id)}) whether it has the new values, or update it again with the same ones, ` +
      'which does no harm; a Conflict then may come of a cancellation that was done.',
  });
}

/** REST may name a field by its index in the update mask. The input has no mask, so each index maps to its field. */
function updateMaskPaths(input: object): RestToInputPaths {
  return Object.fromEntries(updateMaskOf(input).map((field, index) => [`updateMask.${index}`, field]));
}

import type { ObjectParam } from '@pothos/core';
import { builder, type SchemaTypes } from '../builder.ts';
import type { ReportedError } from '../context.ts';
import { describedEnum } from '../fields/described-enum.ts';

type UserErrorSource<Name, Details> = { __typename: Name; message: string } & Details;

export interface InvalidFieldSource {
  /** Dotted; empty for the input as a whole. */
  path: string;
  /** A client reads it after the name of the field. */
  message: string;
  code: typeof invalidFieldCode.ref.$inferType;
  /** The bound that the value exceeds. */
  limit?: number | undefined;
}

export type InvalidInputSource = UserErrorSource<'InvalidInput', { fields: InvalidFieldSource[] }>;
export type NotFoundSource = UserErrorSource<'NotFound', { missingId: string; path: string }>;
/** `shipment` is the resource name of the shipment that the order has. */
export type ConflictSource = UserErrorSource<
  'Conflict',
  { reason: typeof conflictReason.ref.$inferType; shipment?: string }
>;
export type OutcomeUnknownSource = UserErrorSource<'OutcomeUnknown', { idempotencyKey: string | null }>;
export type WriteFailedSource = UserErrorSource<'WriteFailed', ReportedError>;

export const UserError = builder.interfaceRef<{ message: string }>('UserError').implement({
  description:
    'The reason why a mutation did not succeed. `... on UserError { message }` matches every ' +
    'result except the success.',
  fields: (t) => ({
    message: t.exposeString('message', {
      description:
        'The reason, and what to do next. If the REST service rejected the request, this is the message of the REST service.',
    }),
  }),
});

/** Makes an enum of codes. `isCode`: whether a text is one of them. */
export function codeEnum<Code extends string>(name: string, what: string, codes: Record<Code, string>) {
  const description = `${what} as a code, so that you can show your own text. Keep a default branch, because later versions may add values.`;
  const isCode = (text: string): text is Code => Object.hasOwn(codes, text);
  return { ref: describedEnum(name, description, codes), isCode };
}

export const invalidFieldCode = codeEnum('InvalidFieldCode', 'The kind of fault in an input field', {
  REQUIRED: 'A value is missing.',
  TOO_SHORT: 'The text or list is too short. `limit` is the minimum number of characters or items.',
  TOO_LONG: 'The text or list is too long. `limit` is the maximum number of characters or items.',
  TOO_SMALL: 'The number is too small. `limit` is the minimum.',
  TOO_LARGE: 'The number is too large. `limit` is the maximum.',
  INVALID_FORMAT: 'The value does not have the required form, such as the form of an id.',
  NOT_ALLOWED: 'The field does not accept this value, for example null.',
  NOT_FOUND: 'The value refers to a record that does not exist.',
  DUPLICATE: 'The value occurs more than once.',
  REJECTED: 'The REST service rejected the value. `message` says why.',
});

export const conflictReason = codeEnum('ConflictReason', 'The reason for a `Conflict`', {
  ALREADY_SHIPPED: 'The order or the quote already has a shipment.',
  ORDER_FINISHED: 'The order is delivered, returned or cancelled.',
  KEY_REUSED: 'The `idempotencyKey` was used with another input.',
  CHANNEL_INACTIVE: 'The channel is not active.',
  STATE: 'The current state of the record does not allow the change.',
  DUPLICATE_REFERENCE: 'An earlier input of `inputs` has the same `referenceId`.',
  REJECTED: 'The REST service rejected the change. `message` says why.',
});

const InvalidField = builder.objectRef<InvalidFieldSource>('InvalidField').implement({
  description: 'An input field with an invalid value.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description:
        'The path of the field in the input, such as `recipient.address.addressLines` or ' +
        '`paymentMethods.0`. An empty path means the whole input.',
    }),
    message: t.exposeString('message', {
      description:
        "The fault as a text to show after the field's name, such as `must be 3 to 128 characters long`.",
    }),
    code: t.expose('code', { type: invalidFieldCode.ref, description: 'The kind of fault as a code.' }),
    limit: t.exposeFloat('limit', {
      nullable: true,
      description:
        'The minimum or maximum of the field, if `code` is `TOO_SHORT`, `TOO_LONG`, `TOO_SMALL` or ' +
        '`TOO_LARGE`. Null for all other codes, and for faults that the REST service found.',
    }),
  }),
});

export const InvalidInput = builder.objectRef<InvalidInputSource>('InvalidInput').implement({
  description: 'The input is invalid. Nothing was written.',
  interfaces: [UserError],
  fields: (t) => ({
    fields: t.expose('fields', {
      type: [InvalidField],
      description:
        'The invalid fields, up to 100. Empty if the REST service rejected the input without naming a field.',
      extensions: { estimatedItems: 5 },
    }),
  }),
});

export const NotFound = builder.objectRef<NotFoundSource>('NotFound').implement({
  description: 'The input refers to a record that does not exist. Nothing was written.',
  interfaces: [UserError],
  fields: (t) => ({
    missingId: t.exposeID('missingId', { description: 'The id that was not found.' }),
    path: t.exposeString('path', {
      description: 'The path of the input field that contains the unknown id, such as `origin`.',
    }),
  }),
});

export const Conflict = builder.objectRef<ConflictSource>('Conflict').implement({
  description:
    'The current state does not allow this change, such as shipping an order twice. Nothing was written.',
  interfaces: [UserError],
  fields: (t) => ({
    reason: t.expose('reason', { type: conflictReason.ref, description: 'The reason as a code.' }),
  }),
});

export const OutcomeUnknown = builder.objectRef<OutcomeUnknownSource>('OutcomeUnknown').implement({
  description:
    'The write may or may not have happened. Either the response of the REST service was lost, or the REST service ' +
    'rejected a request that a proxy may have sent twice. `message` says what to check before a retry, or when to retry.',
  interfaces: [UserError],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: true,
      description:
        'The key of the request, or null if the request had no key. With this key, a retry of `shipOrder`, or of ' +
        '`createOrder` with a `referenceId`, first looks for the earlier result. Every other retry with this key ' +
        'returns `OutcomeUnknown` again and writes nothing.',
    }),
  }),
});

export const WriteFailed = builder.objectRef<WriteFailedSource>('WriteFailed').implement({
  description:
    'One of several writes failed for a reason outside its input, such as a rate limit. The write may still have happened if ' +
    '`retryable` is false and `code` is `UPSTREAM_UNAVAILABLE`, `UPSTREAM_ERROR`, `UPSTREAM_INVALID_RESPONSE` or `INTERNAL_SERVER_ERROR`.',
  interfaces: [UserError],
  fields: (t) => ({
    code: t.exposeString('code', {
      description:
        'The error code, such as `RATE_LIMITED`. The field `extensions.code` of an error has the same codes.',
    }),
    retryable: t.exposeBoolean('retryable', {
      description: 'Whether a retry with the same input may succeed.',
    }),
    retryAfterMs: t.exposeInt('retryAfterMs', {
      nullable: true,
      description: 'The time to wait before a retry, in milliseconds, or null if it is unknown.',
    }),
  }),
});

/**
 * Makes the union of a mutation's own result types with the errors that every mutation may return.
 * @example resultUnion('CreateOrderResult', [CreateOrderSuccess])
 */
export const resultUnion = <Types extends ObjectParam<SchemaTypes>>(name: string, types: Types[]) =>
  builder.unionType(name, {
    description: 'The success of the mutation, or the reason why it did not succeed.',
    types: [...types, InvalidInput, Conflict, OutcomeUnknown],
  });

import type { ObjectParam } from '@pothos/core';
import { builder, type SchemaTypes } from '../builder.ts';

interface UserErrorSource {
  message: string;
}

export interface InvalidFieldSource {
  /** Dotted; empty for the input as a whole. */
  path: string;
  /** A client reads it after the name of the field. */
  message: string;
}

export interface InvalidInputSource extends UserErrorSource {
  __typename: 'InvalidInput';
  fields: InvalidFieldSource[];
}

export interface NotFoundSource extends UserErrorSource {
  __typename: 'NotFound';
  missingId: string;
}

export interface ConflictSource extends UserErrorSource {
  __typename: 'Conflict';
}

export interface OutcomeUnknownSource extends UserErrorSource {
  __typename: 'OutcomeUnknown';
  idempotencyKey: string | null;
}

export interface WriteFailedSource extends UserErrorSource {
  __typename: 'WriteFailed';
  code: string;
  retryable: boolean;
  retryAfterMs?: number;
}

export const UserError = builder.interfaceRef<UserErrorSource>('UserError').implement({
  description:
    'Why a mutation did not succeed, for a person to read. `... on UserError { message }` covers every result that is not ' +
    'the success.',
  fields: (t) => ({
    message: t.exposeString('message', {
      description:
        'What was expected, what came, and what to do; in its own words where it is the REST service that refused.',
    }),
  }),
});

const InvalidField = builder.objectRef<InvalidFieldSource>('InvalidField').implement({
  description: 'A field of an input that is not as it should be.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description:
        'Where it is in the input, such as `recipient.address.addressLines` or `paymentMethods.0`; empty where it is ' +
        'the input as a whole.',
    }),
    message: t.exposeString('message', {
      description:
        'What is wrong, to be read after the name of the field: `must be 3 to 128 characters long`.',
    }),
  }),
});

export const InvalidInput = builder.objectRef<InvalidInputSource>('InvalidInput').implement({
  description:
    'The input is not as it should be, and nothing was done. Every fault that was found is listed, 100 at most.',
  interfaces: [UserError],
  fields: (t) => ({
    fields: t.expose('fields', {
      type: [InvalidField],
      description: 'The faults, to be shown each next to its field; empty where the REST service named none.',
      extensions: { estimatedItems: 5 },
    }),
  }),
});

export const NotFound = builder.objectRef<NotFoundSource>('NotFound').implement({
  description: 'What the mutation is about does not exist, and nothing was done.',
  interfaces: [UserError],
  fields: (t) => ({
    missingId: t.exposeID('missingId', {
      description: 'The id that nothing was found by. It is not called `id`, as it is no id of this object.',
    }),
  }),
});

export const Conflict = builder.objectRef<ConflictSource>('Conflict').implement({
  description:
    'The current state does not allow this change: the order is shipped already, or the `idempotencyKey` was used with ' +
    'another input. Nothing was written.',
  interfaces: [UserError],
});

export const OutcomeUnknown = builder.objectRef<OutcomeUnknownSource>('OutcomeUnknown').implement({
  description:
    'It was sent to the REST service and no answer came that tells what became of it: it may have happened or not. ' +
    '`message` says what to check before it is done again.',
  interfaces: [UserError],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: true,
      description:
        'The key of the request. Retry with this key. `shipOrder`, and `createOrder` with a `referenceId`, first look for ' +
        'the earlier result. Other mutations return `OutcomeUnknown` again and write nothing.',
    }),
  }),
});

export const WriteFailed = builder.objectRef<WriteFailedSource>('WriteFailed').implement({
  description:
    'One item of a list of writes failed for a reason that is not in its input. Only lists have it: for a single write, ' +
    'and where all items fail alike, the same is an error of the field. After `UPSTREAM_ERROR` and ' +
    '`UPSTREAM_UNAVAILABLE` it may have been done all the same, unless `retryable`.',
  interfaces: [UserError],
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'The same as `extensions.code` of an error, such as `RATE_LIMITED`.',
    }),
    retryable: t.exposeBoolean('retryable', {
      description: 'Whether the same input may succeed when it is sent again.',
    }),
    retryAfterMs: t.exposeInt('retryAfterMs', {
      nullable: true,
      description: 'How long to wait before that, in milliseconds, where the REST service says so.',
    }),
  }),
});

/** Makes the union of a mutation's own result types with the errors that every mutation may return. */
export const resultUnion = <Types extends ObjectParam<SchemaTypes>>(
  name: string,
  { description, types }: { description: string; types: Types[] },
) => builder.unionType(name, { description, types: [...types, InvalidInput, Conflict, OutcomeUnknown] });

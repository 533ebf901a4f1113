import type { InputRef } from '@pothos/core';
import { assertInputObjectType, type GraphQLResolveInfo, getNamedType } from 'graphql';
import type { GenericSchema, InferOutput } from 'valibot';
import { counted } from '../../base/counted.ts';
import {
  isConflict,
  isNotFound,
  isRejectedInput,
  OutcomeUnknownError,
  StatusError,
  WaybillError,
} from '../../rest/errors.ts';
import { ConflictError, NotFoundError, UnclearRefusalError, UnsettledError } from '../../writes/errors.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { validateInput } from './input-rules.ts';
import { findInputLocation, type RestToInputPaths } from './rest-to-input-path.ts';
import {
  type ConflictSource,
  conflictReason,
  type InvalidFieldSource,
  type InvalidInputSource,
  invalidFieldCode,
  type NotFoundSource,
  type OutcomeUnknownSource,
} from './user-error.ts';

/**
 * The argument of a mutation for one record.
 * @example args: inputArg(CreateOrderInput, 'The order.')
 */
export const inputArg = <Input>(type: InputRef<Input>, description: string) =>
  builder.args((t) => ({ input: t.field({ type, required: true, description }) }));

/** The resolver of a mutation for one record. */
export type MutationResolver<Input, Result> = (
  root: object,
  args: { input: Input },
  context: Context,
  info: GraphQLResolveInfo,
) => Promise<Result>;

type FailureSource = InvalidInputSource | ConflictSource | OutcomeUnknownSource;
type Input = object & { idempotencyKey?: string | null | undefined };

interface Mutation<Rules extends GenericSchema, Success> {
  rules: Rules;
  run(value: InferOutput<Rules>, context: Context): Promise<Success>;
  /** The record that REST may not find, and the input field that names it. */
  target?: ((value: InferOutput<Rules>) => { id: string; path: string }) | undefined;
  restToInputPaths?: RestToInputPaths;
  /** How to find out whether the write was done. `wasNotFound`: Waybill itself has searched for the record already. */
  adviceOnUnknownOutcome(value: InferOutput<Rules>, wasNotFound: boolean): string;
}

/**
 * Makes a resolver that validates the input, then runs the write. It returns the result of the write, or a `UserError`
 * source for invalid input, a conflict, a missing record or an unknown outcome. It throws other errors unchanged.
 * @example
 * resolve: defineMutation({
 *   rules: v.object({ id: recordId('orders') }),
 *   target: ({ id }) => ({ id, path: 'id' }),
 *   run: async ({ id }, { writes }) => ({ __typename: 'CancelOrderSuccess', order: await writes.updateOrder(id, change) }),
 *   adviceOnUnknownOutcome: ({ id }) => `Read the status of order(id: ${JSON.stringify(id)}).`,
 * })
 */
export function defineMutation<Rules extends GenericSchema, Success>(
  mutation: Mutation<Rules, Success> & { target?: undefined },
): MutationResolver<Input, Success | FailureSource>;
export function defineMutation<Rules extends GenericSchema, Success>(
  mutation: Mutation<Rules, Success>,
): MutationResolver<Input, Success | FailureSource | NotFoundSource>;
export function defineMutation<Rules extends GenericSchema, Success>(
  mutation: Mutation<Rules, Success>,
): MutationResolver<Input, Success | FailureSource | NotFoundSource> {
  const { rules, run, target, restToInputPaths = {}, adviceOnUnknownOutcome } = mutation;
  return async (_root, { input }, context, info) => {
    const validation = validateInput(rules, input);
    if ('errors' in validation) return invalidInput(validation.errors);
    const { value } = validation;
    try {
      return await run(value, context);
    } catch (error) {
      if (error instanceof OutcomeUnknownError) {
        const what = error instanceof UnclearRefusalError ? refusalSentence(error) : lostSentence;
        return outcomeUnknown(`${what} ${adviceOnUnknownOutcome(value, error.wasNotFound)}`, input);
      }
      if (error instanceof UnsettledError)
        return outcomeUnknown(`${lostSentence} ${retrySentence(error, input)}`, input);
      if (error instanceof NotFoundError) return notFound(error.target, error.message);
      if (error instanceof ConflictError)
        return { __typename: 'Conflict', message: error.message, ...error.details };
      if (error instanceof InvalidInputError) return invalidInput(error.errors);
      // A failed read of a multi-step write says nothing about the input.
      if (error instanceof StatusError && !error.isRead) {
        const { message = `${error.summary}.`, code } = error.details;
        if (isConflict(error)) return { __typename: 'Conflict', message, reason: toConflictReason(code) };
        if (isNotFound(error) && target !== undefined) return notFound(target(value), message);
        if (isNotFound(error) || isRejectedInput(error))
          return invalidInput(invalidFields(error, input, info, restToInputPaths), message);
      }
      throw error;
    }
  };
}

function outcomeUnknown(message: string, { idempotencyKey = null }: Input): OutcomeUnknownSource {
  return { __typename: 'OutcomeUnknown', message, idempotencyKey };
}

const lostSentence = 'The response of the REST service was lost, so the write may or may not have happened.';

function refusalSentence({ refusal, cause }: UnclearRefusalError): string {
  const answer = refusal.message.replace(/\.$/, '');
  const wait =
    cause instanceof UnsettledError
      ? ` The REST service may not show the write yet. Wait ${secondsOf(cause)}.`
      : '';
  return `${answer}. ${sentTwice}${wait}`;
}

const sentTwice =
  'The write may or may not have happened. A proxy may have sent the request twice, so that the REST service rejected ' +
  'only the second one.';

function retrySentence(error: UnsettledError, { idempotencyKey }: Input): string {
  const how = typeof idempotencyKey === 'string' ? ' with the same idempotencyKey' : '';
  return `The REST service may not show the write yet. Send the request again${how} in ${secondsOf(error)}.`;
}

function secondsOf({ retryAfterMs }: UnsettledError): string {
  return counted(Math.max(1, Math.ceil(retryAfterMs / 1000)), 'second');
}

/** Input errors that only data from REST can show, such as a template that the channel does not have. */
export class InvalidInputError extends WaybillError {
  readonly errors: InvalidFieldSource[];

  constructor(errors: InvalidFieldSource[]) {
    super(errors.map(fieldSentence).join('; '));
    this.errors = errors;
  }
}

function invalidFields(
  { details }: StatusError,
  input: object,
  { parentType, fieldName }: GraphQLResolveInfo,
  restToInputPaths: RestToInputPaths,
): InvalidFieldSource[] {
  // A mutation has one argument: an input, or a list of inputs.
  const type = assertInputObjectType(getNamedType(parentType.getFields()[fieldName]?.args[0]?.type));
  return details.fields.map(({ path: restPath, message, code = '' }) => {
    const { path, remainder } = findInputLocation(restPath, type, input, restToInputPaths);
    const sentence = `${remainder} ${message}`.trimStart();
    return { path, message: sentence, code: invalidFieldCode.isCode(code) ? code : 'REJECTED' };
  });
}

// No form has this many fields. The bound keeps the response small when an input has very many errors.
const maxErrors = 100;

/** The result for an invalid input. @param message by default the messages of the fields */
export function invalidInput(errors: InvalidFieldSource[], message?: string): InvalidInputSource {
  const fields = errors.slice(0, maxErrors);
  const sentences = fields.map(fieldSentence).join('; ');
  return {
    __typename: 'InvalidInput',
    message: message ?? `The input is invalid, and nothing was written: ${sentences}.`,
    fields,
  };
}

function notFound({ id, path }: { id: string; path: string }, message: string): NotFoundSource {
  return { __typename: 'NotFound', missingId: id, path, message };
}

/** The reason for a code of REST, which may be one of ours or the name of a gRPC status. */
function toConflictReason(code = ''): ConflictSource['reason'] {
  if (code === 'FAILED_PRECONDITION') return 'STATE';
  return conflictReason.isCode(code) ? code : 'REJECTED';
}

function fieldSentence({ path, message }: InvalidFieldSource): string {
  return path === '' ? message : `${path} ${message}`;
}

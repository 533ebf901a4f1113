import type { GraphQLResolveInfo } from 'graphql';
import type { GenericSchema, InferOutput } from 'valibot';
import {
  isConflict,
  isNotFound,
  isRejectedInput,
  OutcomeUnknownError,
  StatusError,
  WaybillError,
} from '../../rest/errors.ts';
import { ConflictError, NotFoundError } from '../../writes/errors.ts';
import { inputLocationOf, inputType, type Renames } from './input-path.ts';
import { checked } from './input-rules.ts';
import type {
  ConflictSource,
  InvalidFieldSource,
  InvalidInputSource,
  NotFoundSource,
  OutcomeUnknownSource,
} from './user-error.ts';

type Refused = InvalidInputSource | ConflictSource | OutcomeUnknownSource;

/** One write of a mutation: what is held against its rules, done, and answered as data whatever came of it. */
export interface Mutation<Rules extends GenericSchema, Success> {
  rules: Rules;
  /** With a key of the client's own, or of a kind that has none. */
  input: object & { idempotencyKey?: string | null | undefined };
  info: GraphQLResolveInfo;
  /** Does it, with what the rules have made of the input. */
  run(value: InferOutput<Rules>): Promise<Success>;
  /** Where REST's names for the fields stand in the input, where they differ. */
  renames?: Renames;
  /**
   * What a person is to check where it is not known what came of it, as one or more sentences. `wasNotFound`: whether it
   * has been looked for already, in vain.
   */
  whatToCheck(value: InferOutput<Rules>, wasNotFound: boolean): string;
}

/** A write that is about something, of which REST may say that it does not exist. */
export interface MutationAbout<Rules extends GenericSchema, Success> extends Mutation<Rules, Success> {
  /** The id of what the write is about. */
  about(value: InferOutput<Rules>): string;
}

/**
 * Does a write and answers its success, or as data what a person can get wrong and what nobody knows.
 * @throws what is broken, and not the input's fault, as it came.
 */
export function runMutation<Rules extends GenericSchema, Success>(
  task: Mutation<Rules, Success> & { about?: undefined },
): Promise<Success | Refused>;
export function runMutation<Rules extends GenericSchema, Success>(
  task: MutationAbout<Rules, Success>,
): Promise<Success | Refused | NotFoundSource>;
export async function runMutation<Rules extends GenericSchema, Success>(
  task: Mutation<Rules, Success> & { about?: MutationAbout<Rules, Success>['about'] | undefined },
): Promise<Success | Refused | NotFoundSource> {
  const outcome = checked(task.rules, task.input);
  if ('errors' in outcome) return invalidInput(outcome.errors);
  const { value } = outcome;
  try {
    return await task.run(value);
  } catch (error) {
    if (error instanceof OutcomeUnknownError) {
      return outcomeUnknown(task, task.whatToCheck(value, error.wasNotFound));
    }
    if (error instanceof NotFoundError) return notFound(error.id, error.message);
    if (error instanceof ConflictError) return { __typename: 'Conflict', message: error.message };
    if (error instanceof InvalidInputError) return invalidInput(error.errors);
    // What a workflow reads on its way is not what the input asks for.
    if (error instanceof StatusError && !error.isRead) {
      const message = error.details.message ?? `${error.summary}.`;
      if (isConflict(error)) return { __typename: 'Conflict', message };
      if (isNotFound(error) && task.about !== undefined) return notFound(task.about(value), message);
      if (isNotFound(error) || isRejectedInput(error))
        return invalidInput(refusedFields(error, task), message);
    }
    throw error;
  }
}

/** Faults that only a look at what there is can show, such as a template that the channel does not have. */
export class InvalidInputError extends WaybillError {
  override readonly name = 'InvalidInputError';
  readonly errors: InvalidFieldSource[];

  constructor(errors: InvalidFieldSource[]) {
    super(errors.map(sentence).join('; '));
    this.errors = errors;
  }
}

/** What REST has refused, at the places of the input; what it calls by no name of the input stands at the whole. */
function refusedFields(
  { details }: StatusError,
  { info, input, renames = {} }: Pick<Mutation<GenericSchema, unknown>, 'info' | 'input' | 'renames'>,
): InvalidFieldSource[] {
  const type = inputType(info);
  return details.fields.map(({ path: restPath, message }) => {
    const { path, below } = inputLocationOf(restPath, { type, input, renames }) ?? {
      path: '',
      below: restPath,
    };
    return { path, message: below === '' ? message : `${below} ${message}` };
  });
}

// More than any form has fields; an answer must not grow with the faults of whoever sends many.
const maxErrors = 100;
const maxReportedErrors = 20;

function invalidInput(errors: InvalidFieldSource[], message?: string): InvalidInputSource {
  const reported = errors.slice(0, maxReportedErrors).map(sentence).join('; ');
  const more = errors.length > maxReportedErrors ? `; and ${errors.length - maxReportedErrors} more` : '';
  return {
    __typename: 'InvalidInput',
    message: message ?? `Nothing was done, as the input can't be right: ${reported}${more}.`,
    fields: errors.slice(0, maxErrors),
  };
}

function notFound(missingId: string, message: string): NotFoundSource {
  return { __typename: 'NotFound', missingId, message };
}

function outcomeUnknown(
  { input: { idempotencyKey = null } }: Pick<Mutation<GenericSchema, unknown>, 'input'>,
  whatToCheck: string,
): OutcomeUnknownSource {
  return {
    __typename: 'OutcomeUnknown',
    message: `It was sent, but no answer came that tells what became of it: it may have happened or not. ${whatToCheck}`,
    idempotencyKey,
  };
}

function sentence({ path, message }: InvalidFieldSource): string {
  return path === '' ? message : `${path} ${message}`;
}

import type { GraphQLResolveInfo } from 'graphql';
import type { GenericSchema, InferOutput } from 'valibot';
import {
  isConflict,
  isNotFound,
  isRefusedInput,
  OutcomeUnknownError,
  StatusError,
  WaybillError,
} from '../../rest/errors.ts';
import { ConflictError, NotFoundError } from '../../writes/errors.ts';
import { inputPlace, inputType, type Renames } from './input-path.ts';
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
export interface Write<Rules extends GenericSchema, Success> {
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
export interface WriteAbout<Rules extends GenericSchema, Success> extends Write<Rules, Success> {
  /** The id of what the write is about. */
  about(value: InferOutput<Rules>): string;
}

/**
 * Does a write and answers its success, or as data what a person can get wrong and what nobody knows.
 * @throws what is broken, and not the input's fault, as it came.
 */
export function write<Rules extends GenericSchema, Success>(
  task: Write<Rules, Success> & { about?: undefined },
): Promise<Success | Refused>;
export function write<Rules extends GenericSchema, Success>(
  task: WriteAbout<Rules, Success>,
): Promise<Success | Refused | NotFoundSource>;
export async function write<Rules extends GenericSchema, Success>(
  task: Write<Rules, Success> & { about?: WriteAbout<Rules, Success>['about'] | undefined },
): Promise<Success | Refused | NotFoundSource> {
  const outcome = checked(task.rules, task.input);
  if ('faults' in outcome) return invalidInput(outcome.faults);
  const { value } = outcome;
  try {
    return await task.run(value);
  } catch (error) {
    if (error instanceof OutcomeUnknownError) {
      return outcomeUnknown(task, task.whatToCheck(value, error.wasNotFound));
    }
    if (error instanceof NotFoundError) return notFound(error.id, error.message);
    if (error instanceof ConflictError) return { __typename: 'Conflict', message: error.message };
    if (error instanceof InvalidInputError) return invalidInput(error.faults);
    // What a workflow reads on its way is not what the input asks for.
    if (error instanceof StatusError && !error.isRead) {
      const message = error.refusal.message ?? `${error.summary}.`;
      if (isConflict(error)) return { __typename: 'Conflict', message };
      if (isNotFound(error) && task.about !== undefined) return notFound(task.about(value), message);
      if (isNotFound(error) || isRefusedInput(error))
        return invalidInput(refusedFields(error, task), message);
    }
    throw error;
  }
}

/** Faults that only a look at what there is can show, such as a template that the channel does not have. */
export class InvalidInputError extends WaybillError {
  override readonly name = 'InvalidInputError';
  readonly faults: InvalidFieldSource[];

  constructor(faults: InvalidFieldSource[]) {
    super(faults.map(sentence).join('; '));
    this.faults = faults;
  }
}

/** What REST has refused, at the places of the input; what it calls by no name of the input stands at the whole. */
function refusedFields(
  { refusal }: StatusError,
  { info, input, renames = {} }: Pick<Write<GenericSchema, unknown>, 'info' | 'input' | 'renames'>,
): InvalidFieldSource[] {
  const type = inputType(info);
  return refusal.fields.map(({ path: restPath, message }) => {
    const { path, below } = inputPlace(restPath, { type, input, renames }) ?? { path: '', below: restPath };
    return { path, message: below === '' ? message : `${below} ${message}` };
  });
}

// More than any form has fields; an answer must not grow with the faults of whoever sends many.
const maxFaults = 100;
const maxToldFaults = 20;

function invalidInput(faults: InvalidFieldSource[], message?: string): InvalidInputSource {
  const told = faults.slice(0, maxToldFaults).map(sentence).join('; ');
  const more = faults.length > maxToldFaults ? `; and ${faults.length - maxToldFaults} more` : '';
  return {
    __typename: 'InvalidInput',
    message: message ?? `Nothing was done, as the input can't be right: ${told}${more}.`,
    fields: faults.slice(0, maxFaults),
  };
}

function notFound(missingId: string, message: string): NotFoundSource {
  return { __typename: 'NotFound', missingId, message };
}

function outcomeUnknown(
  { input: { idempotencyKey = null } }: Pick<Write<GenericSchema, unknown>, 'input'>,
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

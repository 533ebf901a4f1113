import type { GraphQLResolveInfo } from 'graphql';
import type { GenericSchema, InferOutput } from 'valibot';
import { OutcomeUnknownError, StatusError, WaybillError } from '../rest/errors.ts';
import { ConflictError, NotFoundError } from '../writes/errors.ts';
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
  /** What a person is to check where no answer came, as one or more sentences. */
  check(value: InferOutput<Rules>): string;
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
  write: Write<Rules, Success> & { about?: undefined },
): Promise<Success | Refused>;
export function write<Rules extends GenericSchema, Success>(
  write: WriteAbout<Rules, Success>,
): Promise<Success | Refused | NotFoundSource>;
export async function write<Rules extends GenericSchema, Success>(
  write: Write<Rules, Success> & { about?: WriteAbout<Rules, Success>['about'] | undefined },
): Promise<Success | Refused | NotFoundSource> {
  const outcome = checked(write.rules, write.input);
  if ('faults' in outcome) return invalidInput(outcome.faults);
  const { value } = outcome;
  try {
    return await write.run(value);
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return outcomeUnknown(write, write.check(value));
    if (error instanceof NotFoundError) return notFound(error.id, error.message);
    if (error instanceof ConflictError) return { __typename: 'Conflict', message: error.message };
    if (error instanceof InvalidInputError) return invalidInput(error.faults);
    // What a workflow reads on its way is not what the input asks for.
    if (error instanceof StatusError && !error.isRead) {
      const { status, refusal, summary } = error;
      const message = refusal.message ?? `${summary}.`;
      if (status === 409 || status === 412) return { __typename: 'Conflict', message };
      if (status === 404 || status === 410) {
        return write.about === undefined ? invalidInput([], message) : notFound(write.about(value), message);
      }
      if (status === 400 || status === 422) return invalidInput(refusedFields(error, write), message);
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

function invalidInput(fields: InvalidFieldSource[], message?: string): InvalidInputSource {
  return {
    __typename: 'InvalidInput',
    message: message ?? `Nothing was done, as the input can't be right: ${fields.map(sentence).join('; ')}.`,
    fields,
  };
}

function notFound(id: string, message: string): NotFoundSource {
  return { __typename: 'NotFound', id, message };
}

function outcomeUnknown(
  { input: { idempotencyKey = null } }: Pick<Write<GenericSchema, unknown>, 'input'>,
  check: string,
): OutcomeUnknownSource {
  return {
    __typename: 'OutcomeUnknown',
    message: `It was sent, but no answer came that can be read, so that it may have happened or not. ${check}`,
    idempotencyKey,
  };
}

function sentence({ path, message }: InvalidFieldSource): string {
  return path === '' ? message : `${path} ${message}`;
}

import type { InputRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import type { MutationResolver } from './define-mutation.ts';
import type { WriteFailedSource } from './user-error.ts';

/** The argument of a mutation for many records. */
export const inputsArg = <Input>(type: InputRef<Input>, description: string) =>
  builder.args((t) => ({ inputs: t.field({ type: [type], required: true, description }) }));

/**
 * Runs one write for each input of a batch mutation. Writes to the same target run one after another, in input order.
 * Other writes run concurrently: the limits of the operation bound the number of inputs and of concurrent calls.
 * @param targetOf the record that an input writes, such as its order. Without one, the write waits for no other.
 * @returns the results in input order; a write that throws becomes a `WriteFailed`
 * @throws the first error if all writes failed with the same code and `retryable`: the inputs are then not the cause
 */
export async function runBatch<Input, Result>(
  inputs: readonly Input[],
  targetOf: (input: Input) => string | null | undefined,
  runOne: MutationResolver<Input, Result>,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<(Result | WriteFailedSource)[]> {
  const lastWriteByTarget = new Map<string, Promise<unknown>>();
  const reasons: unknown[] = [];
  const codes = new Set<string>();
  const results = await Promise.all(
    inputs.map((input) => {
      const target = targetOf(input) ?? '';
      const previous = lastWriteByTarget.get(target) ?? Promise.resolve();
      const result = previous
        .then(() => runOne({}, { input }, context, info))
        .catch((reason: unknown) => {
          const failure: WriteFailedSource = { __typename: 'WriteFailed', ...context.reportError(reason) };
          reasons.push(reason);
          codes.add(`${failure.code} ${failure.retryable}`);
          return failure;
        });
      if (target !== '') lastWriteByTarget.set(target, result);
      return result;
    }),
  );
  // The reason that came first in time.
  if (reasons.length === inputs.length && codes.size === 1) throw reasons[0];
  return results;
}

/** `abc` for both `orders/abc` and `abc`. */
export function bareIdentifier(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

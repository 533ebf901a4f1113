import type { InputRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import type { WriteFailedSource } from './user-error.ts';

/** The argument of a mutation for many records. */
export const inputsArg = <Input>(type: InputRef<Input>, description: string) =>
  builder.args((t) => ({ inputs: t.field({ type: [type], required: true, description }) }));

/**
 * Runs one write for each input of a batch mutation. Writes with the same key run one after another, in input order.
 * Other writes run concurrently: the limits of the operation bound the number of inputs and of concurrent calls.
 * @returns the results in input order; a write that throws becomes a `WriteFailed`
 * @throws the first error if all writes failed with the same code, because the inputs are then not the cause
 */
export async function runBatch<Input, Result>(
  inputs: readonly Input[],
  keyOf: (input: Input) => string | null | undefined,
  run: (input: Input, context: Context, info: GraphQLResolveInfo) => Promise<Result>,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<(Result | WriteFailedSource)[]> {
  const lastWriteByKey = new Map<string, Promise<unknown>>();
  const failures: { reason: unknown; reported: WriteFailedSource }[] = [];
  const results = await Promise.all(
    inputs.map((input) => {
      const key = keyOf(input) ?? '';
      const previous = lastWriteByKey.get(key) ?? Promise.resolve();
      const result = previous
        .then(() => run(input, context, info))
        .catch((reason: unknown) => {
          const reported: WriteFailedSource = { __typename: 'WriteFailed', ...context.reportError(reason) };
          failures.push({ reason, reported });
          return reported;
        });
      if (key !== '') lastWriteByKey.set(key, result);
      return result;
    }),
  );
  const [firstFailure] = failures;
  const hasSameCode = ({ reported }: { reported: WriteFailedSource }) =>
    reported.code === firstFailure?.reported.code;
  if (firstFailure !== undefined && failures.length === inputs.length && failures.every(hasSameCode))
    throw firstFailure.reason;
  return results;
}

/** `abc` for both `orders/abc` and `abc`. */
export function bareIdentifier(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

import type { Context } from '../context.ts';
import type { WriteFailedSource } from './user-error.ts';

/**
 * Does a list of writes and answers them in order, each with its own result. Limits of the operation bound how many there are,
 * and how many calls are under way at a time. Those about the same order run one after the other, in order.
 * @throws where every item failed alike, the first one's error, as what is wrong is then not with the items.
 */
export async function runBatch<Input, Result>(
  inputs: readonly Input[],
  orderOf: (input: Input) => string,
  run: (input: Input) => Promise<Result>,
  { reportError }: Context,
): Promise<(Result | WriteFailedSource)[]> {
  const lastOf = new Map<string, Promise<unknown>>();
  const failures: { reason: unknown; reported: WriteFailedSource }[] = [];
  const results = await Promise.all(
    inputs.map((input) => {
      const order = identifierOf(orderOf(input));
      const before = lastOf.get(order) ?? Promise.resolve();
      const result = before
        .then(() => run(input))
        .catch((reason: unknown) => {
          const reported: WriteFailedSource = { __typename: 'WriteFailed', ...reportError(reason) };
          failures.push({ reason, reported });
          return reported;
        });
      lastOf.set(order, result);
      return result;
    }),
  );
  const [first] = failures;
  const isAlike = ({ reported }: { reported: WriteFailedSource }) => reported.code === first?.reported.code;
  if (first !== undefined && failures.length === inputs.length && failures.every(isAlike)) throw first.reason;
  return results;
}

/** The same for the whole id and the bare identifier. */
function identifierOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

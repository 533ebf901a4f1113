import { BadInputError } from '../rest/errors.ts';
import type { Context } from './context.ts';
import type { WriteFailedSource } from './user-error.ts';

const maxItems = 100;

/**
 * Does up to 100 writes and answers them in order, each with its own result; the operation's own limit bounds how many
 * calls are under way at a time. Those about the same order run one after the other, in order.
 * @throws BadInputError for more, without a call; and, where every item failed alike, the first one's error, as what is
 * wrong is then not with the items.
 */
export async function bulk<Input, Result>(
  inputs: readonly Input[],
  orderOf: (input: Input) => string,
  run: (input: Input) => Promise<Result>,
  { tell }: Context,
): Promise<(Result | WriteFailedSource)[]> {
  if (inputs.length > maxItems) {
    throw new BadInputError(`Expected at most ${maxItems} inputs, but got ${inputs.length}.`);
  }
  const lastOf = new Map<string, Promise<unknown>>();
  const failures: { reason: unknown; told: WriteFailedSource }[] = [];
  const results = await Promise.all(
    inputs.map((input) => {
      const order = identifierOf(orderOf(input));
      const before = lastOf.get(order) ?? Promise.resolve();
      const result = before
        .then(() => run(input))
        .catch((reason: unknown) => {
          const told: WriteFailedSource = { __typename: 'WriteFailed', ...tell(reason) };
          failures.push({ reason, told });
          return told;
        });
      lastOf.set(order, result);
      return result;
    }),
  );
  const [first] = failures;
  const isAlike = ({ told }: { told: WriteFailedSource }) => told.code === first?.told.code;
  if (first !== undefined && failures.length === inputs.length && failures.every(isAlike)) throw first.reason;
  return results;
}

/** The same for the whole id and the bare identifier. */
function identifierOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

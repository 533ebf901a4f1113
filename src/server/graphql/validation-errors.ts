import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { toGraphQLError } from '../http/client-error.ts';

/** Gives the errors of validation the form of all others. Yoga masks what is thrown and executed, and not these. */
export function validationErrors(report: (error: unknown) => void): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // A list of results is Yoga's for batches and a stream is a subscription's; there are neither.
      if (result === undefined || !('errors' in result) || result.errors === undefined) return;
      const told = (error: GraphQLError) =>
        error.extensions.retryable === undefined ? toGraphQLError(error, report) : error;
      setResult({ ...result, errors: result.errors.map(told) });
    },
  };
}

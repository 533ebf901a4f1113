import type { Plugin } from 'graphql-yoga';
import { firstErrors } from './first-errors.ts';
import type { Limits } from './limits.ts';

/** Tells of a refused request as many errors as the limits allow. */
export function toldErrors({ errors: most }: Limits): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // What has been executed in part keeps the errors of all its fields.
      if (result === undefined || !('errors' in result) || result.data !== undefined) return;
      const { errors } = result;
      const told = errors && firstErrors(errors, most);
      if (told !== errors) setResult({ ...result, errors: told });
    },
  };
}

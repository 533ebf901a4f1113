import type { GraphQLError } from 'graphql';
import type { Report } from '../../telemetry/error-report.ts';
import { toGraphQLError } from '../http/client-error.ts';

/** Translates errors for clients, and tells of those that it masks once it is known whose request they are of. */
export interface MaskedErrors {
  /** The error as a client gets it. */
  mask(error: unknown): GraphQLError;
  /** Reports what is behind an error, and gives it the request's id, by which the log can be searched. */
  report(told: GraphQLError, requestId: string): void;
}

/** The library translates an error without saying whose request it is of; the answer that holds it is. */
export function createMaskedErrors(report: Report): MaskedErrors {
  const causes = new WeakMap<GraphQLError, { cause: unknown }>();
  return {
    mask(error) {
      const masked: { cause: unknown }[] = [];
      const told = toGraphQLError(error, (cause) => masked.push({ cause }));
      for (const behind of masked) causes.set(told, behind);
      return told;
    },
    report(told, requestId) {
      const behind = causes.get(told);
      if (behind === undefined) return;
      causes.delete(told);
      told.extensions.requestId = requestId;
      report(behind.cause, requestId);
    },
  };
}

import { GraphQLError, specifiedRules, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Validation } from '../limits/document-limits.ts';
import { withMessage } from '../limits/truncate-errors.ts';

/** `public`: clients may introspect the schema. `private`: no introspection, and errors reveal no names. */
export type SchemaAccess = 'public' | 'private';

/** Rejects `__schema` and `__type`. `__typename` is allowed because it reveals nothing that clients do not know. */
const noIntrospection: ValidationRule = (context) => ({
  Field(node) {
    const name = node.name.value;
    if (name !== '__schema' && name !== '__type') return undefined;
    const message = `The schema of this server is private: "${name}" can't be asked for.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
    // Skip the fields below. GraphQL's own rule would report each introspection field below as well.
    return false;
  },
});

/** Rejects variables named `__proto__`: the executor stores variables in a plain object, and would lose the value. */
const noPrototypeVariable: ValidationRule = (context) => ({
  VariableDefinition({ variable }) {
    if (variable.name.value !== '__proto__') return;
    const message = 'A variable can\u2019t be named "__proto__" here: choose another name.';
    context.reportError(new GraphQLError(message, { nodes: variable }));
  },
});

const rules = [...specifiedRules, noPrototypeVariable];

/** The validation rules for public and private schemas. */
export const validationByAccess: Record<SchemaAccess, Validation> = {
  public: { rules, hideSuggestions: false, errorsForClients: (errors) => errors },
  private: {
    rules: [noIntrospection, ...rules],
    hideSuggestions: true,
    errorsForClients: withoutSchemaNames,
  },
};

/**
 * Yoga plugin for private schemas: keeps error messages from revealing names that the request does not contain.
 * Validation and the executor omit suggestions by their own options. Messages must not name missing selections, required
 * input fields or required arguments, nor tell their number.
 */
export function hiddenSuggestions(): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // Errors of an operation that has started contain no names of the schema.
      if (result === undefined || !('errors' in result) || result.data !== undefined) return;
      if (result.errors !== undefined) setResult({ ...result, errors: withoutSchemaNames(result.errors) });
    },
  };
}

/** Parts of GraphQL's messages that reveal names, and their replacements in a private schema. */
const rewrites: [pattern: RegExp, replacement: string][] = [
  [/ Did you mean "\w+ \{ \.\.\. \}"\?$/, ''],
  [/ to include required field "\w+", found/, ' to include all of its required fields, found'],
  [
    /^Argument "[^"]+" of type "[^"]+" is required, but it was not provided\.$/,
    'A required argument is missing.',
  ],
];

/** Rewrites errors that reveal names. Errors of one place that are equal without the names become one error. */
function withoutSchemaNames(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  const byPlaceAndMessage = new Map<string, GraphQLError>();
  for (const error of errors) {
    const rewritten = withoutNames(error);
    const key = JSON.stringify([rewritten.positions, rewritten.message]);
    if (!byPlaceAndMessage.has(key)) byPlaceAndMessage.set(key, rewritten);
  }
  return [...byPlaceAndMessage.values()];
}

function withoutNames(error: GraphQLError): GraphQLError {
  const message = rewrites.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    error.message,
  );
  return message === error.message ? error : withMessage(error, message);
}

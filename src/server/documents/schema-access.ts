import { GraphQLError, specifiedRules, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Validation } from '../limits/document-limits.ts';

/** Whether clients may explore the schema, or know of it only what they were given. */
export type SchemaAccess = 'public' | 'private';

/** Refuses `__schema` and `__type`. `__typename` says nothing that the document does not know already. */
const noIntrospection: ValidationRule = (context) => ({
  Field(node) {
    const name = node.name.value;
    if (name !== '__schema' && name !== '__type') return undefined;
    const message = `The schema of this server is private: "${name}" can't be asked for.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
    // GraphQL's own rule for this reports each field of the introspection that is selected below, too.
    return false;
  },
});

/** The executor keeps variables as properties of a plain object, so that the value of this one would be lost. */
const noPrototypeVariable: ValidationRule = (context) => ({
  VariableDefinition({ variable }) {
    if (variable.name.value !== '__proto__') return;
    const message = 'A variable can\u2019t be named "__proto__" here: choose another name.';
    context.reportError(new GraphQLError(message, { nodes: variable }));
  },
});

const rules = [...specifiedRules, noPrototypeVariable];

export const validationByAccess: Record<SchemaAccess, Validation> = {
  public: { rules, hideSuggestions: false },
  private: { rules: [noIntrospection, ...rules], hideSuggestions: true },
};

/**
 * Keeps errors of a private schema from telling names that the request does not have: the executor from telling which
 * names are near to one that a variable's value lacks, as validation is kept by itself, and both from telling what else
 * a selection, a value or a field needs.
 */
export function hiddenSuggestions(): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => {
        // The executor's own option, which Yoga's type of its arguments does not name.
        const argsWithoutSuggestions = { ...args, hideSuggestions: true };
        return executeFn(argsWithoutSuggestions);
      });
    },
    onExecutionResult({ result, setResult }) {
      // What has been executed in part speaks of no names of the schema.
      if (result === undefined || !('errors' in result) || result.data !== undefined) return;
      if (result.errors !== undefined)
        setResult({ ...result, errors: result.errors.map(withoutSchemaNames) });
    },
  };
}

/** What GraphQL says of what is not there, and what is said in a private schema. */
const rewrites: [words: RegExp, instead: string][] = [
  [/ Did you mean "\w+ \{ \.\.\. \}"\?$/, ''],
  [/ to include required field "\w+", found/, ' to include all of its required fields, found'],
  [
    /^Argument "[^"]+" of type "[^"]+" is required, but it was not provided\.$/,
    'A required argument is missing.',
  ],
];

function withoutSchemaNames(error: GraphQLError): GraphQLError {
  const message = rewrites.reduce((text, [words, instead]) => text.replace(words, instead), error.message);
  if (message === error.message) return error;
  const { nodes, source, positions, path, originalError, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}

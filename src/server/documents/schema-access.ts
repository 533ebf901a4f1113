import { GraphQLError, specifiedRules, type ValidationRule } from 'graphql';
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

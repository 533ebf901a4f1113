import { GraphQLError, NoSchemaIntrospectionCustomRule, specifiedRules, type ValidationRule } from 'graphql';
import type { Validation } from '../limits/document-limits.ts';

/** `public`: clients may introspect the schema. `private`: no introspection, and errors suggest no names. */
export type SchemaAccess = 'public' | 'private';

/** Rejects variables named `__proto__`: the executor stores variables in a plain object, and would lose the value. */
const noPrototypeVariable: ValidationRule = (context) => ({
  VariableDefinition({ variable }) {
    if (variable.name.value !== '__proto__') return;
    const message = 'A variable can\u2019t be named "__proto__". Choose another name.';
    context.reportError(new GraphQLError(message, { nodes: variable }));
  },
});

const rules = [...specifiedRules, noPrototypeVariable];

export const validationByAccess: Record<SchemaAccess, Validation> = {
  public: { rules, hideSuggestions: false },
  private: { rules: [NoSchemaIntrospectionCustomRule, ...rules], hideSuggestions: true },
};

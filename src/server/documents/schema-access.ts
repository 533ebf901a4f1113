import { GraphQLError, specifiedRules, type ValidationRule } from 'graphql';

/** Whether clients may explore the schema, or know of it only what they were given. */
export type SchemaAccess = 'public' | 'private';

/** How documents are validated, as options of GraphQL's own validation. */
export interface Validation {
  rules: readonly ValidationRule[];
  /** Whether errors keep to themselves which names are near to one that is not there. */
  hideSuggestions: boolean;
}

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

export const validationByAccess: Record<SchemaAccess, Validation> = {
  public: { rules: specifiedRules, hideSuggestions: false },
  private: { rules: [noIntrospection, ...specifiedRules], hideSuggestions: true },
};

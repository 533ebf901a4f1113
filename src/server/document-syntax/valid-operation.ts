import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/** The values of variables as they were sent, before coercion. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** An operation of a valid document, with the raw values of its variables. */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly variables: RawVariables | undefined;
}

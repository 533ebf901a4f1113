import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { type ExecutablePlan, Execution } from './execution.ts';
import { ObjectPlan } from './object-plan.ts';

/**
 * A query that is planned once and executed many times. The query must have no directives, because @skip and @include
 * can change the selection with each execution. Reasons: docs/decisions/0001-compiled-query-plans.md.
 */
export class QueryPlan implements ExecutablePlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: ObjectPlan;

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = Object.create(null);
    for (const definition of document.definitions) {
      if (definition.kind === 'FragmentDefinition') this.fragments[definition.name.value] = definition;
    }
    const type = schema.getRootType(operation.operation);
    if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
    this.root = new ObjectPlan(this, type, [operation.selectionSet]);
  }

  /** Coerces the values of variables. Returns the coerced values or the errors. */
  coerceVariables(values: Readonly<Record<string, unknown>>) {
    return getVariableValues(this.schema, this.operation.variableDefinitions ?? [], values);
  }

  /** Executes the query with coerced variables. `context` is the context value of the resolvers. */
  run(context: object, variables: VariableValues) {
    return new Execution(this, context, variables).result();
  }
}

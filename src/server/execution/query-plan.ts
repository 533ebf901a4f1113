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

/** A query, made ready to be run again and again. It has no directives: conditions would make each run another query. */
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

  /** The values of the variables as resolvers get them, or the reasons why they don't fit. */
  variablesOf(values: Readonly<Record<string, unknown>>) {
    return getVariableValues(this.schema, this.operation.variableDefinitions ?? [], values);
  }

  run(context: object, variables: VariableValues) {
    return new Execution(this, context, variables).result();
  }
}

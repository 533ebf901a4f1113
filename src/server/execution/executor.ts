// Executes operations: the variables are coerced, the operation gets its plan (operation-plan.ts), and the plan runs
// (execution.ts, run-field.ts). Reasons: docs/design/how-a-query-is-executed.md#plans.

import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  print,
  type VariableValues,
} from 'graphql';
import { perOperation } from '../document-syntax/operation-memo.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import { maxErrorsShown } from '../limits/limits.ts';
import { Execution, type OperationPlan } from './execution.ts';
import { planOperation } from './operation-plan.ts';
import { runField } from './run-field.ts';

/**
 * Executes an operation of a valid document.
 * @param context the context value of the resolvers
 * @returns what graphql-js returns for it. Without `data` if a variable is invalid. The promise never rejects.
 */
export type Execute = (operation: Operation, context: object) => ExecutionResult | Promise<ExecutionResult>;

/**
 * The executor plans each operation at its first use, and keeps the plan while the document is cached.
 * @param hideSuggestions whether errors of variables omit similar names of the schema
 */
export function createExecutor(schema: GraphQLSchema, hideSuggestions = false): Execute {
  const planFor = perOperation((definition, document) => createPlans(schema, definition, document));
  // Each error prints the object around the value: 10 ms for 10,000 fields.
  const options = { maxErrors: maxErrorsShown, hideSuggestions };
  return ({ definition, document, variables = {} }, context) => {
    const definitions = definition.variableDefinitions ?? [];
    const { variableValues, errors } = getVariableValues(schema, definitions, variables, options);
    if (errors !== undefined) return { errors: errors.map(asBadRequest) };
    let plan: OperationPlan;
    try {
      plan = planFor(definition, document)(variableValues);
    } catch (error) {
      // The condition of a root field is null.
      if (error instanceof GraphQLError) return { data: null, errors: [error] };
      throw error;
    }
    return run(new Execution(plan, context, variableValues));
  };
}

function asBadRequest(error: GraphQLError): GraphQLError {
  error.extensions.http = { status: 400 };
  return error;
}

function run(execution: Execution): ExecutionResult | Promise<ExecutionResult> {
  const { root, operation } = execution.plan;
  if (operation.operation === 'mutation') return runSerially(execution);
  for (const field of root.fields)
    if (execution.data !== null) runField(field, execution, undefined, execution.data, undefined);
  return execution.whenSettled()?.then(() => execution.toResult()) ?? execution.toResult();
}

/** Runs the root fields of a mutation one after the other. */
async function runSerially(execution: Execution): Promise<ExecutionResult> {
  for (const field of execution.plan.root.fields) {
    if (execution.data === null) break;
    runField(field, execution, undefined, execution.data, undefined);
    await execution.whenSettled();
  }
  return execution.toResult();
}

// The outcomes of two conditions. Plans of further outcomes are not kept: to plan costs no more than to run.
const maxPlans = 4;

/** The plans of an operation: one for each outcome of its @skip and @include. */
function createPlans(schema: GraphQLSchema, definition: OperationDefinitionNode, document: DocumentNode) {
  // Only Boolean variables may be in @skip and @include.
  const conditions = definition.variableDefinitions?.filter(({ type }) => /^Boolean!?$/.test(print(type)));
  const names = conditions?.map(({ variable }) => variable.name.value) ?? [];
  const plans = new Map<string, OperationPlan>();
  return ({ coerced }: VariableValues) => {
    const outcome = Object.fromEntries(names.map((name) => [name, coerced[name]]));
    const key = Object.values(outcome).join();
    const known = plans.get(key);
    if (known !== undefined) return known;
    const plan = planOperation(schema, definition, document, outcome);
    if (plans.size < maxPlans) plans.set(key, plan);
    return plan;
  };
}

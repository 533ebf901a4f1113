import {
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
  validateInputValue,
} from 'graphql';
import type { Operation, RawVariables } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { definitionsOf } from '../document-syntax/selections.ts';
import { firstOutOfRange, fixedLimits, type Limits, limitExceeded } from './limits.ts';
import { introspectionSizes } from './list-size.ts';
import { estimateNodes, resolveCount, resolveNodeCount } from './node-count.ts';

/** Checks operations with their variables against the limits. */
export interface OperationLimits {
  /**
   * Checks an operation of a valid document.
   * @returns the error if a limit is exceeded, and otherwise the weight: the objects that the response has and the rows
   * that pages ask of REST at most, and 10 for each write.
   */
  check(operation: Operation): GraphQLError | number;
}

/** Creates the check. The nodes of an operation are estimated once, and counted again for each set of variables. */
export function createOperationLimits(schema: GraphQLSchema, limits: Limits): OperationLimits {
  const introspection = introspectionSizes(schema);
  const estimateOf = perOperation((definition, document) => {
    const { fragments } = definitionsOf(document);
    return estimateNodes(schema, introspection, definition, (name) => fragments.get(name));
  });

  return {
    check({ document, definition, variables }) {
      const error = variables && variablesError(schema, limits, definition, variables);
      if (error !== undefined) return error;
      const values = variables ?? {};
      const { nodes, pages, writes } = estimateOf(definition, document);
      for (const { count, maximum, coordinate, node } of pages) {
        const allowed = Math.min(maximum, limits.first);
        const first = resolveCount(count, values);
        if (first < 0 || first > allowed) return firstOutOfRange(coordinate, allowed, first, node);
      }
      const writeCount = writes.reduce<number>((sum, count) => sum + resolveCount(count, values), 0);
      if (writeCount > fixedLimits.writes)
        return limitExceeded('writes', fixedLimits.writes, writeCount, definition);
      const nodeCount = Math.ceil(resolveNodeCount(nodes, values)) + pointsPerWrite * writeCount;
      return nodeCount > limits.nodes
        ? limitExceeded('nodes', limits.nodes, nodeCount, definition)
        : nodeCount;
    },
  };
}

/** A write costs REST as much as a page of this many rows. */
const pointsPerWrite = 10;

// Up to these sizes, the executors find up to 100 errors in a few milliseconds.
const maxValuesChecked = 500;
const maxCharactersChecked = 8_192;

/**
 * The error for variables that exceed a limit. For large variables within the limits, the first coercion error.
 * Undefined if there is none, and for small variables, whose coercion errors the executor reports. A coercion error
 * quotes the object around the value, so its cost grows with the object.
 */
function variablesError(
  schema: GraphQLSchema,
  limits: Limits,
  operation: OperationDefinitionNode,
  variables: RawVariables,
): GraphQLError | undefined {
  let values = 0;
  let characters = 0;

  function sizeError(value: unknown, depth: number): GraphQLError | undefined {
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > fixedLimits.nesting) {
      return limitExceeded('nesting', fixedLimits.nesting, `more than ${fixedLimits.nesting}`);
    }
    if (Array.isArray(value)) {
      if (value.length > limits.listItems) {
        return limitExceeded('listItems', limits.listItems, value.length);
      }
      return itemsSizeError(value, depth);
    }
    const names = Object.keys(value);
    // Depth 1 is the object of all variables, which may have more entries.
    if (names.length > fixedLimits.inputFields && depth > 1) {
      return limitExceeded('inputFields', fixedLimits.inputFields, names.length);
    }
    for (const name of names) characters += name.length;
    return itemsSizeError(Object.values(value), depth);
  }

  function itemsSizeError(items: readonly unknown[], depth: number): GraphQLError | undefined {
    for (const item of items) {
      values += 1;
      if (values > fixedLimits.values) {
        return limitExceeded('values', fixedLimits.values, `more than ${fixedLimits.values}`);
      }
      const error = sizeError(item, depth + 1);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  const error = sizeError(variables, 1);
  if (error !== undefined) return error;
  if (characters > limits.valueCharacters) {
    return limitExceeded('valueCharacters', limits.valueCharacters, characters);
  }
  const areLarge = values > maxValuesChecked || characters > maxCharactersChecked;
  return areLarge ? firstCoercionError(schema, operation, variables) : undefined;
}

/** The first coercion error. The executors would look for up to 100 errors, and print the object around each. */
function firstCoercionError(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: RawVariables,
): GraphQLError | undefined {
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    // The executor handles missing variables, which may have a default value.
    if (!Object.hasOwn(variables, name) || !isInputType(type)) continue;
    try {
      const throwError = ({ message }: GraphQLError, path: readonly (string | number)[]): never => {
        const valuePath = [name, ...path].join('.');
        throw new GraphQLError(`Variable "$${name}" got an invalid value at "${valuePath}": ${message}`, {
          nodes: definition,
          extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } },
        });
      };
      validateInputValue(variables[name], type, throwError, true);
    } catch (error) {
      // `throwError` ends the search at the first error.
      if (error instanceof GraphQLError) return error;
      throw error;
    }
  }
  return undefined;
}

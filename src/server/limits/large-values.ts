import {
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
  validateInputValue,
} from 'graphql';
import type { RawVariables, ValueSize } from './value-limits.ts';

// Up to here the executors look for up to 100 faults in a few milliseconds.
const largest: ValueSize = { values: 500, characters: 8_192 };

/** Whether values are so large that each fault which is told of them costs much. */
export function areLarge({ values, characters }: ValueSize): boolean {
  return values > largest.values || characters > largest.characters;
}

/**
 * The first fault of values that are held against their types. The executors go on to find up to 100, and for each they
 * print all that is around it.
 */
export function firstFaultOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: RawVariables,
): GraphQLError | undefined {
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    // What is left out may have a default value, and is for the executor.
    if (!Object.hasOwn(variables, name) || !isInputType(type)) continue;
    try {
      validateInputValue(variables[name], type, (fault, path) => throwFault(fault, path), true);
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      const place = [name, ...error.path].join('.');
      return new GraphQLError(`Variable "$${name}" got an invalid value at "${place}": ${error.message}`, {
        nodes: definition,
        extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } },
      });
    }
  }
  return undefined;
}

type Path = readonly (string | number)[];

/** Ends the search. */
class ValueFault extends Error {
  override readonly name = 'ValueFault';
  readonly path: Path;

  constructor(message: string, path: Path) {
    super(message);
    this.path = path;
  }
}

function throwFault({ message }: GraphQLError, path: Path): never {
  throw new ValueFault(message, path);
}

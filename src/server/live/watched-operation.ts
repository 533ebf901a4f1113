import {
  type DocumentNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { isJsonObject } from '../../base/json-object.ts';
import { BadInputError } from '../../rest/errors.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions, responseName, selectedFields } from '../document-syntax/selections.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';

/** The response names that lead to values which are new at each read, such as signed URLs. `null`: such a value. */
interface VolatileNames extends Map<string, VolatileNames | null> {}

interface WatchedOperation {
  volatile: VolatileNames;
  /** The arguments that need a scan, such as `Subscription.shipments(status:)`. */
  scans: { coordinate: string; argument: string; value: ValueNode }[];
  defaults: Record<string, unknown>;
}

/** What a stream must know of its operation, beyond what runs it. By the extensions of fields and arguments. */
export function createOperationReader(schema: GraphQLSchema) {
  const read = perOperation((definition, document) => readOperation(schema, definition, document));
  return {
    /**
     * Refuses arguments that make each look scan a list.
     * @returns the error, which names the first such argument and the way around it
     */
    checkArguments({ definition, document, variables }: Operation): BadInputError | undefined {
      const { scans, defaults } = read(definition, document);
      const values = { ...defaults, ...variables };
      const scan = scans.find(({ value }) => isSet(valueFromASTUntyped(value, values)));
      if (scan === undefined) return undefined;
      return new BadInputError(
        `A subscription cannot use "${scan.argument}" of ${scan.coordinate}, because this argument needs a scan of the ` +
          'list. Query the list once, and watch its rows with the subscription nodes(ids: …).',
      );
    },
    /** The data that a stream compares: without values that are new at each read. */
    comparable({ definition, document }: Operation, data: unknown): unknown {
      const { volatile } = read(definition, document);
      return volatile.size === 0 ? data : withoutNames(data, volatile);
    },
  };
}

export type OperationReader = ReturnType<typeof createOperationReader>;

/** An absent or empty argument is no filter. */
function isSet(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

function readOperation(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  document: DocumentNode,
): WatchedOperation {
  const { fragments } = collectDefinitions(document);
  const scans: WatchedOperation['scans'] = [];

  function addNames(names: VolatileNames, parent: GraphQLCompositeType, set: SelectionSetNode): void {
    for (const selection of selectedFields([set], fragments)) {
      const { node, condition } = selection;
      const type = condition === undefined ? parent : schema.getType(condition);
      const field = isCompositeType(type) ? schema.getField(type, node.name.value) : undefined;
      if (field === undefined) continue;
      for (const { name, extensions } of field.args) {
        const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
        if (value !== undefined && extensions.needsScan === true)
          scans.push({ coordinate: `${type?.name}.${field.name}`, argument: name, value });
      }
      const key = responseName(selection);
      const fieldType = getNamedType(field.type);
      if (field.extensions.isNewAtEachRead === true) names.set(key, null);
      else if (node.selectionSet !== undefined && isCompositeType(fieldType)) {
        const inner = names.get(key) ?? new Map();
        addNames(inner, fieldType, node.selectionSet);
        if (inner.size > 0) names.set(key, inner);
      }
    }
  }

  const volatile: VolatileNames = new Map();
  const root = schema.getRootType(definition.operation);
  if (isCompositeType(root)) addNames(volatile, root, definition.selectionSet);
  const defaults = Object.fromEntries(
    (definition.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
  return { volatile, scans, defaults };
}

function withoutNames(value: unknown, names: VolatileNames): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) => {
      const inner = names.get(name);
      if (inner === null) return [];
      return [[name, inner === undefined ? part : withoutNames(part, inner)]];
    }),
  );
}

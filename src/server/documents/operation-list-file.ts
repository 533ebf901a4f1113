import { readFile } from 'node:fs/promises';
import type { OperationList } from './listed-operations.ts';

/**
 * Reads a list of operations: JSON that holds documents by their ids, as Relay's compiler and GraphQL Code Generator
 * write it, or a manifest as Apollo's tools do.
 * @throws Error that says what is wrong with the file.
 */
export async function readOperationList(file: string): Promise<OperationList> {
  const json: unknown = JSON.parse(await readFile(file, 'utf8'));
  const entries = isRecord(json) ? (manifestEntries(json) ?? Object.entries(json)) : undefined;
  if (entries?.every(isEntry)) return new Map(entries);
  throw new Error('It holds neither documents by their ids nor a manifest of Apollo\u2019s');
}

/** The ids and texts of Apollo's manifest; undefined where it is none. */
function manifestEntries({ format, operations }: Record<string, unknown>): unknown[] | undefined {
  if (format !== 'apollo-persisted-query-manifest' || !Array.isArray(operations)) return undefined;
  return operations.map((operation: unknown) => isRecord(operation) && [operation.id, operation.body]);
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isEntry(entry: unknown): entry is [string, string] {
  return Array.isArray(entry) && entry.every((part) => typeof part === 'string');
}

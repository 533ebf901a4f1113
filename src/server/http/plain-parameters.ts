import type { DocumentReference } from '../documents/persisted-queries.ts';

/** What a request says of its operation, in the form that nearly all have. */
export interface PlainParameters extends DocumentReference {
  query?: string | null;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  query: (value) => typeof value === 'string',
  operationName: (value) => typeof value === 'string' && value !== '',
  variables: isObject,
  extensions: isObject,
  documentId: (value) => typeof value === 'string',
  id: (value) => typeof value === 'string',
};

/** The parameters in the JSON of a body, or undefined where there are others, or one is not as it should be. */
export function parametersIn(json: object): PlainParameters | undefined {
  // What JSON has made has no names but its own.
  for (const name in json) {
    if (!Object.hasOwn(fits, name)) return undefined;
    const value: unknown = json[name as keyof typeof json]; // It is one of them.
    if (value !== null && fits[name]?.(value) !== true) return undefined;
  }
  return json;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { type FieldFault, invalid } from '../interface/service-error.ts';

/** TypeBox stops at 8 by default; a refusal names all faults, up to this bound. */
const maxFaults = 100;

/** Checks a part of a request; a fault becomes a 400 that names every field. */
export const requestCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // On first use: most runs of the sandbox call few of its operations, and all would cost some 100 ms at start.
  let validator: ReturnType<typeof Compile> | undefined;
  return (value: unknown) => {
    validator ??= Compile(schema);
    const read = httpPart === 'querystring' ? withNumbers(value) : value;
    if (validator.Check(read)) return { value: read };
    Settings.Set({ maxErrors: maxFaults });
    return { error: invalid(...faultsOf(validator.Errors(read))) };
  };
};

/** Checks an answer and writes it. What its schema does not declare is a mistake of the sandbox, never left out silently. */
export const answerCompiler: FastifySerializerCompiler<TSchema> = ({ schema, method, url }) => {
  let validator: ReturnType<typeof Compile> | undefined;
  return (answer) => {
    validator ??= Compile(schema);
    if (!validator.Check(answer)) {
      const faults = faultsOf(validator.Errors(answer)).map(({ field, message }) => `${field} ${message}`);
      throw new Error(`The answer to ${method} ${url} breaks its schema: ${faults.join('; ')}`);
    }
    return JSON.stringify(answer);
  };
};

/** A query holds text alone; whole numbers in plain decimal are read as such, for the schema to judge. */
function withNumbers(query: unknown): Record<string, unknown> {
  const entries = Object.entries(query ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      name === 'pageSize' && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ]),
  );
}

function faultsOf(errors: TLocalizedValidationError[]): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const error of errors) {
    for (const fault of faultsIn(error)) {
      // The first says most: a null where text belongs has the wrong type, and also no valid value.
      if (!faults.has(fault.field)) faults.set(fault.field, fault);
    }
  }
  return [...faults.values()];
}

function faultsIn(error: TLocalizedValidationError): FieldFault[] {
  const field = fieldOf(error.instancePath);
  const within = (name: string) => (field === '' ? name : `${field}.${name}`);
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({ field: within(name), message: 'is required' }));
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({
        field: within(name),
        message: 'is not a known field',
      }));
    case 'boolean':
      // Says of each unknown field once more what `additionalProperties` says of all.
      return [];
    case 'enum':
      return [{ field, message: `must be one of ${error.params.allowedValues.map(String).join(', ')}` }];
    default:
      return [{ field, message: error.message }];
  }
}

/** `/recipient/address/addressLines/0` as `recipient.address.addressLines.0`. */
function fieldOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

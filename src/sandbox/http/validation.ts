import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { type FieldError, invalid } from '../interface/service-error.ts';

/** The most field errors in a response. TypeBox stops at 8 by default. */
const maxFieldErrors = 100;

/** Validates a part of a request. Errors become a 400 that names every invalid field. */
export const requestCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // Compiled on first use: most runs call few operations, and compiling all takes about 100 ms.
  let validator: ReturnType<typeof Compile> | undefined;
  return (value: unknown) => {
    validator ??= Compile(schema);
    const parsed = httpPart === 'querystring' ? withPageSizeAsNumber(value) : value;
    if (validator.Check(parsed)) return { value: parsed };
    Settings.Set({ maxErrors: maxFieldErrors });
    return { error: invalid(...fieldErrors(validator.Errors(parsed))) };
  };
};

/** Validates and serializes a response. An undeclared field is an error of the sandbox, never dropped silently. */
export const responseCompiler: FastifySerializerCompiler<TSchema> = ({ schema, method, url }) => {
  let validator: ReturnType<typeof Compile> | undefined;
  return (response) => {
    validator ??= Compile(schema);
    if (!validator.Check(response)) {
      const messages = fieldErrors(validator.Errors(response)).map(
        ({ field, message }) => `${field} ${message}`,
      );
      throw new Error(`The answer to ${method} ${url} breaks its schema: ${messages.join('; ')}`);
    }
    return JSON.stringify(response);
  };
};

/** Converts a decimal `pageSize` to a number, because query values are texts. The schema validates the number. */
function withPageSizeAsNumber(query: unknown): Record<string, unknown> {
  const entries = Object.entries(query ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      name === 'pageSize' && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ]),
  );
}

function fieldErrors(errors: TLocalizedValidationError[]): FieldError[] {
  const byField = new Map<string, FieldError>();
  for (const error of errors) {
    for (const fieldError of toFieldErrors(error)) {
      // Keeps the first error of a field, the most helpful one: the wrong type comes before the invalid value.
      if (!byField.has(fieldError.field)) byField.set(fieldError.field, fieldError);
    }
  }
  return [...byField.values()];
}

function toFieldErrors(error: TLocalizedValidationError): FieldError[] {
  const field = pointerToPath(error.instancePath);
  const childPath = (name: string) => (field === '' ? name : `${field}.${name}`);
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        field: childPath(name),
        message: 'is required',
      }));
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({
        field: childPath(name),
        message: 'is not a known field',
      }));
    case 'boolean':
      // Repeats the errors of `additionalProperties` for each unknown field.
      return [];
    case 'enum':
      return [{ field, message: `must be one of ${error.params.allowedValues.map(String).join(', ')}` }];
    default:
      return [{ field, message: error.message }];
  }
}

/** `/recipient/address/addressLines/0` as `recipient.address.addressLines.0`. */
function pointerToPath(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

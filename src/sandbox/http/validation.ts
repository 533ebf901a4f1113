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
    return { error: invalid(...fieldErrors(validator.Errors(parsed), schema)) };
  };
};

/** Validates and serializes a response. An undeclared field is an error of the sandbox, never dropped silently. */
export const responseCompiler: FastifySerializerCompiler<TSchema> = ({ schema, method, url }) => {
  let validator: ReturnType<typeof Compile> | undefined;
  return (response) => {
    validator ??= Compile(schema);
    if (!validator.Check(response)) {
      const messages = fieldErrors(validator.Errors(response), schema).map(
        ({ field, message }) => `${field} ${message}`,
      );
      throw new Error(`The response to ${method} ${url} does not match its schema: ${messages.join('; ')}`);
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

function fieldErrors(errors: TLocalizedValidationError[], schema: TSchema): FieldError[] {
  const byField = new Map<string, FieldError>();
  for (const error of errors) {
    for (const fieldError of toFieldErrors(error, schema)) {
      // Keeps the first error of a field, the most helpful one: the wrong type comes before the invalid value.
      if (!byField.has(fieldError.field)) byField.set(fieldError.field, fieldError);
    }
  }
  return [...byField.values()];
}

function toFieldErrors(error: TLocalizedValidationError, schema: TSchema): FieldError[] {
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
    default: {
      const message = messageOf(error, schema);
      return [{ field, message: field === '' ? `the body ${message}` : message }];
    }
  }
}

const typeNames: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a text',
};
const formatNames: Record<string, string> = { uri: 'an absolute URL', 'date-time': 'a date and time' };

/** What a value must be, as the end of a sentence that begins with the field. Never a pattern or a schema path. */
function messageOf(error: TLocalizedValidationError, schema: TSchema): string {
  switch (error.keyword) {
    case 'type':
      return `must be ${[error.params.type]
        .flat()
        .map((type) => typeNames[type] ?? type)
        .join(' or ')}`;
    case 'enum':
      return `must be one of ${error.params.allowedValues.map(String).join(', ')}`;
    case 'pattern':
      return `must be ${expectedBy(error.schemaPath, schema)}`;
    case 'format':
      return `must be ${formatNames[error.params.format] ?? error.params.format}`;
    case 'minLength':
    case 'minItems':
      return `must have at least ${counted(error.params.limit, error.keyword)}`;
    case 'maxLength':
    case 'maxItems':
      return `must have at most ${counted(error.params.limit, error.keyword)}`;
    case 'minimum':
      return `must be at least ${error.params.limit}`;
    case 'maximum':
      return `must be at most ${error.params.limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${error.params.limit}`;
    default:
      return error.message;
  }
}

function counted(count: number, keyword: string): string {
  const unit = keyword.endsWith('Length') ? 'character' : 'item';
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The description of the schema at a JSON pointer within `schema`, in the form that follows "must be". */
function expectedBy(pointer: string, schema: TSchema): string {
  let part: unknown = schema;
  for (const name of pointerParts(pointer)) {
    part = typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined;
  }
  const description =
    typeof part === 'object' && part !== null && 'description' in part ? String(part.description) : '';
  return description === ''
    ? 'of the form that the interface shows'
    : `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
}

/** `/recipient/address/addressLines/0` as `recipient.address.addressLines.0`. */
function pointerToPath(pointer: string): string {
  return pointerParts(pointer).join('.');
}

function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

import { type Static, Type } from 'typebox';

/** A part of a request that is at fault, such as `recipient.address.addressLines`. */
export interface FieldFault {
  field: string;
  message: string;
}

/** The JSON of every refusal. The REST interface leaves it open ("Errors"). */
export type ErrorAnswer = Static<typeof ErrorAnswer>;
export const ErrorAnswer = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The HTTP status.' }),
      status: Type.String({ description: 'INVALID_ARGUMENT, NOT_FOUND, …' }),
      message: Type.String(),
      details: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
    }),
  },
  { $id: 'Error', description: 'What was refused, and every fault of it.' },
);

const statusNames = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'FAILED_PRECONDITION',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  500: 'INTERNAL',
} as const;

type RefusalCode = keyof typeof statusNames;

/** A refusal on its way to the client. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: RefusalCode;
  readonly details: readonly FieldFault[];

  constructor(code: RefusalCode, message: string, details: readonly FieldFault[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }

  toAnswer(): ErrorAnswer {
    const { code, message, details } = this;
    return { error: { code, status: statusNames[code], message, details: [...details] } };
  }
}

/** 400, with every fault named. */
export function invalid(...details: FieldFault[]): ServiceError {
  const list = details.map(({ field, message }) => (field === '' ? message : `${field} ${message}`));
  return new ServiceError(400, `The request is invalid: ${list.join('; ')}`, details);
}

/** 404, for what does not exist and for what belongs to another merchant alike. */
export function notFound(name: string): ServiceError {
  return new ServiceError(404, `${name} does not exist`);
}

/** 409, for what the present state of a resource does not allow. */
export function conflict(message: string): ServiceError {
  return new ServiceError(409, message);
}

/** What the client is told of any error: 500 and nothing more for one that is a mistake of the sandbox. */
export function refusalOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  const message = error instanceof Error ? error.message : String(error);
  // Fastify's own refusals: a body too large, of an unknown type, or no JSON.
  if (code === 413 || code === 415) return new ServiceError(code, message);
  if (code >= 400 && code < 500) return new ServiceError(400, message);
  return new ServiceError(500, 'The sandbox has made a mistake');
}

/** The refusals of an operation for its `response` schemas; any operation can be refused with 401. */
export function refusals<Code extends RefusalCode>(...codes: Code[]): Record<Code | 401, typeof ErrorAnswer> {
  const entries = [401, ...codes].map((code) => [code, ErrorAnswer]);
  // fromEntries forgets its keys; they are exactly these codes.
  return Object.fromEntries(entries) as Record<Code | 401, typeof ErrorAnswer>;
}

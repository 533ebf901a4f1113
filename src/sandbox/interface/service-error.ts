import { type Static, Type } from 'typebox';

/** An error of one field of a request. */
export interface FieldError {
  /** The path of the field, such as `recipient.address.addressLines`. */
  field: string;
  message: string;
}

/** The JSON of every error response. The interface does not show its shape ("Errors"). */
type ErrorResponse = Static<typeof ErrorResponse>;
const ErrorResponse = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The HTTP status.' }),
      status: Type.String({ description: 'INVALID_ARGUMENT, NOT_FOUND, …' }),
      message: Type.String(),
      details: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
    }),
  },
  { $id: 'Error', description: 'The reason why the request was rejected, and its invalid fields.' },
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

type ErrorCode = keyof typeof statusNames;

/** An error that the client receives as an error response. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: readonly FieldError[];

  constructor(code: ErrorCode, message: string, details: readonly FieldError[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }

  toJson(): ErrorResponse {
    const { code, message, details } = this;
    return { error: { code, status: statusNames[code], message, details: [...details] } };
  }
}

/** A 400 error for invalid fields. */
export function invalid(...details: FieldError[]): ServiceError {
  const list = details.map(({ field, message }) => (field === '' ? message : `${field} ${message}`));
  return new ServiceError(400, `The request is invalid: ${list.join('; ')}`, details);
}

/** A 404 error, for a missing record and for a record of another merchant. */
export function notFound(name: string): ServiceError {
  return new ServiceError(404, `${name} does not exist`);
}

/** A 409 error, for a change that the state of a record does not allow. */
export function conflict(message: string): ServiceError {
  return new ServiceError(409, message);
}

/** Converts any error for the client. The sandbox's own errors become a 500 without details. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  const message = error instanceof Error ? error.message : String(error);
  // Errors of Fastify: the body is too large, of an unknown type or invalid JSON.
  if (code === 413 || code === 415) return new ServiceError(code, message);
  if (code >= 400 && code < 500) return new ServiceError(400, message);
  return new ServiceError(500, 'Something went wrong in the sandbox');
}

/** The `response` schemas of the errors of an operation. Every operation may also respond with 401. */
export function errorResponses<Code extends ErrorCode>(
  ...codes: Code[]
): Record<Code | 401, typeof ErrorResponse> {
  const entries = [401, ...codes].map((code) => [code, ErrorResponse]);
  // Object.fromEntries loses the key types. The keys are exactly these codes.
  return Object.fromEntries(entries) as Record<Code | 401, typeof ErrorResponse>;
}

import { hash } from 'node:crypto';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { overloadRetryAfterMs } from '../http/http-error.ts';
import type { Transport } from './transport.ts';

/** The response to one look of a watch. Streams share its bytes. */
export class Answer {
  /** Equal for answers that a client need not tell apart. */
  readonly key: string;
  /** The number of errors by code. Undefined without errors. */
  readonly errors: Record<string, number> | undefined;
  /** Whether the stream ends with it: REST rejected the token, or the operation was refused. */
  readonly isLast: boolean;
  /** How long REST asks to wait, by an error. Undefined if it does not. */
  readonly retryAfterMs: number | undefined;
  /** Whether REST limited the rate of the token. */
  readonly isRateLimited: boolean;
  /** Whether it has an error that may pass. */
  readonly mayRecover: boolean;
  /** When the look started, by the clock of the watch. */
  readonly startedAtMs: number;
  readonly #json: string;
  readonly #frames = new Map<Transport, Buffer>();

  /**
   * @param result as clients see it
   * @param comparable the data without values that are new at each read
   */
  constructor(result: ExecutionResult, comparable: unknown, startedAtMs: number) {
    const errors = result.errors?.map(toPlainError);
    this.#json = JSON.stringify({ ...result, ...(errors && { errors }) });
    this.key = hash('sha256', JSON.stringify([comparable, errors?.map(errorKey)]), 'base64url');
    this.startedAtMs = startedAtMs;
    const codes = errors?.map(({ extensions }) => String(extensions.code)) ?? [];
    this.errors = codes.length === 0 ? undefined : countBy(codes);
    this.isLast = result.data === undefined || codes.includes('UNAUTHENTICATED');
    this.isRateLimited = codes.includes('RATE_LIMITED');
    this.mayRecover = errors?.some(mayPass) === true;
    const waits =
      errors?.map(({ extensions }) => Number(extensions.retryAfterMs)).filter((ms) => ms > 0) ?? [];
    this.retryAfterMs = waits.length === 0 ? undefined : Math.max(...waits);
  }

  frame(transport: Transport): Buffer {
    const known = this.#frames.get(transport);
    if (known !== undefined) return known;
    const frame = Buffer.from(transport.frame(this.#json));
    this.#frames.set(transport, frame);
    return frame;
  }
}

/** The milliseconds to wait, if an operation did not run because its token has no points or slots left. */
export function waitOf({ data, errors }: ExecutionResult): number | undefined {
  const extensions = errors?.[0]?.extensions;
  if (data !== undefined || extensions === undefined) return undefined;
  const { code, retryAfterMs } = extensions;
  if (code !== 'OVERLOADED' && code !== 'RATE_LIMITED') return undefined;
  return typeof retryAfterMs === 'number' ? retryAfterMs : overloadRetryAfterMs;
}

interface PlainError {
  message: string;
  path?: unknown;
  extensions: Record<string, unknown>;
}

/** Without the status of HTTP, which the head of a stream cannot have. */
function toPlainError(error: GraphQLError): PlainError {
  const { http: _http, ...extensions } = error.extensions;
  return { ...error.toJSON(), message: error.message, extensions };
}

/** Failures that may pass have one key: while REST is away, their codes, texts and waits change. */
function errorKey(error: PlainError): unknown {
  const { message, path, extensions } = error;
  return [path, mayPass(error) ? 'may pass' : [extensions.code, message]];
}

function mayPass({ extensions }: PlainError): boolean {
  return extensions.retryable === true;
}

function countBy(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

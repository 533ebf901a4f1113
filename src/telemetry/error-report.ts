import type { Log } from './log.ts';

/** Logs an error that clients see masked. */
export type ReportError = (error: unknown, requestId?: string) => void;

export function createErrorReporter(log: Log): ReportError {
  return (error, requestId) =>
    log.error({ requestId, error: describeError(error) }, 'an unexpected error occurred');
}

// A limit, because an error may be its own cause.
const maxCauses = 5;

/** The loggable part of an error. It contains no text from a request or from REST. */
function describeError(error: unknown, causesLeft = maxCauses): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, cause } = error;
  return {
    name: isIdentifier(name) ? name : 'Error',
    // Such as `ERR_INVALID_ARG_TYPE`.
    code: 'code' in error && isIdentifier(error.code) ? error.code : undefined,
    message: safeMessages.some((pattern) => pattern.test(error.message)) ? error.message : undefined,
    stack: stackFrames(error),
    cause: cause === undefined || causesLeft === 0 ? undefined : describeError(cause, causesLeft - 1),
  };
}

/**
 * JavaScript error messages that contain only names from the code. Other messages are not logged, because they may
 * quote a value: `Cannot use 'in' operator to search for 'street' in Calle 10 # 5-51`.
 */
const safeMessages = [
  /^Cannot (read|set) properties of (undefined|null)( \((reading|setting) '[A-Za-z_$][\w$]{0,60}'\))?$/,
  /^[A-Za-z_$][\w$.]{0,120} is not (a function|a constructor|iterable|defined)$/,
  /^Maximum call stack size exceeded$/,
];

function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]\w{0,60}$/.test(value);
}

/** The frames, innermost first. The message precedes them in `stack`, and may contain line breaks. */
function stackFrames({ message, stack = '' }: Error): string | undefined {
  const end = stack.indexOf(message) + message.length;
  const frames = stack.slice(end).match(/^ +at .+:\d+:\d+\)?$/gm);
  return frames === null ? undefined : frames.map((frame) => frame.trim()).join('\n');
}

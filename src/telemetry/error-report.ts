import type { Log } from './log.ts';

/** Tells of an error that clients get to see masked, with the id of the request where it is known. */
export type Report = (error: unknown, requestId?: string) => void;

/** Writes the errors that are this server's own fault into the log. */
export function reportTo(log: Log): Report {
  return (error, requestId) => log.error({ requestId, error: described(error) }, 'fault');
}

/** What a line tells of an error: where it came from, and nothing that a request or REST has said. */
interface DescribedError {
  name: string;
  /** Of Node's errors, such as `ERR_INVALID_ARG_TYPE`. */
  code?: string | undefined;
  message?: string | undefined;
  /** The places in the code, innermost first. */
  stack?: string | undefined;
  cause?: DescribedError | undefined;
}

// An error may be its own cause.
const maxCauses = 5;

function described(error: unknown, causesLeft = maxCauses): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, cause } = error;
  return {
    name: isWord(name) ? name : 'Error',
    code: 'code' in error && isWord(error.code) ? error.code : undefined,
    message: quotesNothing(error.message) ? error.message : undefined,
    stack: placesOf(error),
    cause: cause === undefined || causesLeft === 0 ? undefined : described(cause, causesLeft - 1),
  };
}

/**
 * Messages of the language that hold names of the code alone. All others are left out, as they may quote a value:
 * `Cannot use 'in' operator to search for 'street' in Calle 10 # 5-51`.
 */
const messagesOfCode = [
  /^Cannot (read|set) properties of (undefined|null)( \((reading|setting) '[A-Za-z_$][\w$]{0,60}'\))?$/,
  /^[A-Za-z_$][\w$.]{0,120} is not (a function|a constructor|iterable|defined)$/,
  /^Maximum call stack size exceeded$/,
];

function quotesNothing(message: string): boolean {
  return messagesOfCode.some((shape) => shape.test(message));
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]\w{0,60}$/.test(value);
}

/** The lines of a stack that name places; the message stands before them, and may have lines of its own. */
function placesOf({ message, stack = '' }: Error): string | undefined {
  const end = stack.indexOf(message) + message.length;
  const places = stack.slice(end).match(/^ +at .+:\d+:\d+\)?$/gm);
  return places === null ? undefined : places.map((place) => place.trim()).join('\n');
}

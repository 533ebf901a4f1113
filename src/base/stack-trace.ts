/** Creates an error without a stack trace (docs/decisions/0011-errors-without-stack-traces.md). */
export function withoutStackTrace<Value>(create: () => Value): Value {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return create();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

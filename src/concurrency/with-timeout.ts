/** The value of `promise`, or undefined after `timeoutMs` milliseconds. @throws its error within that time. */
export async function withTimeout<Value>(timeoutMs: number, promise: Promise<Value>) {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeout.resolve, timeoutMs);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

import { type Client, createClient, type ExecutionResult, type RequestParams, type Sink } from 'graphql-sse';
import { type Session, SignedOut } from './session.ts';

/** Opens a stream and calls the sink with each event. @returns a function that closes the stream */
export type Watch = <Data>(request: RequestParams, sink: Sink<ExecutionResult<Data>>) => () => void;

/**
 * Streams over SSE. A lost stream is opened again, and a stream that a full server refuses. A token that has ended is
 * refreshed.
 */
export function createWatch(url: string, session: Session): Watch {
  return (request, sink) => {
    // For each stream: another one may have refreshed the token of this one already.
    let sent = '';
    const client: Client = createClient({
      url,
      headers() {
        sent = session.token();
        return { authorization: `Bearer ${sent}` };
      },
      retryAttempts: Number.POSITIVE_INFINITY,
      retry: (count) => pause(Math.min(1_000 * 2 ** count, 30_000) * (1 + Math.random())),
    });
    let close = () => {};
    let isOver = false;
    let delayMs = 1_000;
    let refusals = 0;
    function openLater(minMs = 0): void {
      if (isOver) return;
      const timer = setTimeout(open, Math.max(minMs, delayMs) * (1 + Math.random()));
      close = () => clearTimeout(timer);
      delayMs = Math.min(2 * delayMs, 30_000);
    }
    function open(): void {
      if (isOver) return;
      let isRefused = false;
      let againAfterMs: number | undefined;
      close = client.subscribe<NonNullable<Parameters<typeof sink.next>[0]['data']>>(request, {
        next(result) {
          const errors = result.errors ?? [];
          isRefused = errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
          againAfterMs = undefined;
          if (errors.length > 0 && errors.every(({ extensions }) => extensions?.retryable)) {
            const waitsMs = errors.map(({ extensions }) => Number(extensions?.retryAfterMs ?? 0));
            againAfterMs = Math.min(Math.max(...waitsMs), 30_000);
            // An event without data is no state to show, and Relay would end the stream at it.
            if (!result.data) return;
          }
          if (isRefused && refusals === 0) return;
          if (!isRefused) [delayMs, refusals] = [1_000, 0];
          sink.next(result as Parameters<typeof sink.next>[0]);
        },
        error: (error) => sink.error(error),
        complete() {
          if (isOver) return;
          if (againAfterMs !== undefined) return openLater(againAfterMs);
          if (!isRefused || refusals > 0) return sink.complete();
          session.refresh(sent).then(
            () => {
              refusals += 1;
              open();
            },
            (error) => (error instanceof SignedOut ? sink.error(error) : openLater()),
          );
        },
      });
    }
    open();
    return () => {
      isOver = true;
      close();
    };
  };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

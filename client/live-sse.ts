import { type Client, createClient, type ExecutionResult, type RequestParams, type Sink } from 'graphql-sse';
import type { Session } from './session.ts';

/** Opens a stream and calls the sink with each event. @returns a function that closes the stream */
export type Watch = <Data>(request: RequestParams, sink: Sink<ExecutionResult<Data>>) => () => void;

/** Streams over SSE. A lost stream is opened again, and a token that has ended is refreshed. */
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
    let refusals = 0;
    function open(): void {
      if (isOver) return;
      let isRefused = false;
      close = client.subscribe<NonNullable<Parameters<typeof sink.next>[0]['data']>>(request, {
        next(result) {
          isRefused =
            result.errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED') === true;
          if (isRefused && refusals === 0) return;
          if (!isRefused) refusals = 0;
          sink.next(result as Parameters<typeof sink.next>[0]);
        },
        error: (error) => sink.error(error),
        complete() {
          if (isOver) return;
          if (!isRefused || refusals > 0) return sink.complete();
          refusals += 1;
          session.refresh(sent).then(open, (error) => sink.error(error));
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

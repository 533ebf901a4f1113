import { ApolloLink, Observable } from '@apollo/client';
import { OperationTypeNode } from 'graphql';
import { type Session, SignedOut } from './session.ts';

/**
 * Goes before the `HttpLink`. It opens a lost stream again, and a stream that a full server refuses. It gets a new token
 * when the token of a stream has ended.
 */
export function createLiveLink(session: Session): ApolloLink {
  return new ApolloLink((operation, forward) => {
    if (operation.operationType !== OperationTypeNode.SUBSCRIPTION) return forward(operation);
    return new Observable((observer) => {
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
        const token = session.token();
        let isRefused = false;
        let againAfterMs: number | undefined;
        const subscription = forward(operation).subscribe({
          next(result) {
            const errors = ('errors' in result && result.errors) || [];
            isRefused = errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
            againAfterMs = undefined;
            if (errors.length > 0 && errors.every(({ extensions }) => extensions?.retryable)) {
              const waitsMs = errors.map(({ extensions }) => Number(extensions?.retryAfterMs ?? 0));
              againAfterMs = Math.min(Math.max(...waitsMs), 30_000);
              // An event without data is no state to show.
              if (!result.data) return;
            }
            if (isRefused && refusals === 0) return;
            if (!isRefused) [delayMs, refusals] = [1_000, 0];
            observer.next(result);
          },
          error: () => openLater(),
          complete() {
            if (againAfterMs !== undefined) return openLater(againAfterMs);
            if (!isRefused || refusals > 0) return observer.complete();
            session.refresh(token).then(
              () => {
                refusals += 1;
                open();
              },
              (error) => (error instanceof SignedOut ? observer.error(error) : openLater()),
            );
          },
        });
        close = () => subscription.unsubscribe();
      }
      open();
      return () => {
        isOver = true;
        close();
      };
    });
  });
}

import { ApolloLink, Observable } from '@apollo/client';
import { OperationTypeNode } from 'graphql';
import type { Session } from './session.ts';

/** Goes before the `HttpLink`. It opens a lost stream again, and gets a new token when the token of a stream has ended. */
export function createLiveLink(session: Session): ApolloLink {
  return new ApolloLink((operation, forward) => {
    if (operation.operationType !== OperationTypeNode.SUBSCRIPTION) return forward(operation);
    return new Observable((observer) => {
      let close = () => {};
      let isOver = false;
      let delayMs = 1_000;
      let refusals = 0;
      function open(): void {
        if (isOver) return;
        const token = session.token();
        let isRefused = false;
        const subscription = forward(operation).subscribe({
          next(result) {
            const errors = 'errors' in result ? result.errors : undefined;
            isRefused = errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED') === true;
            if (isRefused && refusals === 0) return;
            if (!isRefused) [delayMs, refusals] = [1_000, 0];
            observer.next(result);
          },
          error() {
            const timer = setTimeout(open, delayMs * (1 + Math.random()));
            close = () => clearTimeout(timer);
            delayMs = Math.min(2 * delayMs, 30_000);
          },
          complete() {
            if (!isRefused || refusals > 0) return observer.complete();
            refusals += 1;
            session.refresh(token).then(open, (error) => observer.error(error));
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

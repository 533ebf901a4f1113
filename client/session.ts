/** The access token of the app. */
export interface Session {
  /** Returns the current access token. */
  token(): string;
  /** Gets the next token. Requests at the same time share one call. Does nothing if `refused` is an older token. */
  refresh(refused: string): Promise<void>;
}

/** The user has signed out. A stream ends with this error. After any other error of `getToken`, it tries again. */
export class SignedOut extends Error {
  override name = 'SignedOut';
}

/**
 * @param getToken asks your own backend for the next access token of the merchant. It throws `SignedOut` when there is
 * none
 */
export function createSession(first: string, getToken: () => Promise<string>): Session {
  let token = first;
  let running: Promise<void> | undefined;
  return {
    token: () => token,
    refresh(refused) {
      if (refused !== token) return Promise.resolve();
      running ??= getToken()
        .then((next) => {
          token = next;
        })
        .finally(() => {
          running = undefined;
        });
      return running;
    },
  };
}
